// What needs no n8n: names, signatures and what is asked of the bridge.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { createHmac } from "node:crypto";
import { Readable } from "node:stream";
import { test } from "node:test";
import ids from "../dist/shared/ids.js";
import signature from "../dist/shared/signature.js";
import files from "../dist/shared/files.js";
import api from "../dist/shared/api.js";
import idempotency from "../dist/shared/idempotency.js";
import lookup from "../dist/shared/lookup.js";
import doing from "../dist/nodes/Bridged/perform.js";
import table from "../dist/nodes/Bridged/operations/index.js";
import webhook from "../dist/nodes/BridgedWebhookTrigger/BridgedWebhookTrigger.node.js";

test("a number in any spelling is a JID, and a name is none", () => {
  for (const text of ["+34 600 10 01 01", "0034 600-100-101", "34600100101", "+34 (600) 100.101"]) equal(ids.numberJid(text), "34600100101@s.whatsapp.net", text);
  for (const text of ["Sofía", "24/7 Support", "12", "", "+", "34600100101@s.whatsapp.net"]) equal(ids.numberJid(text), undefined, text);
});

test("people come from texts, lists and JSON", () => {
  const wanted = ["34600100101@s.whatsapp.net", "81234567890123@lid"];
  for (const given of ["+34 600 100 101, 81234567890123@lid", ["34600100101", "81234567890123@lid"], '["34600100101", "81234567890123@lid"]', "34600100101\n81234567890123@lid\n"]) deepEqual(ids.peopleOf(given), wanted);
  deepEqual(ids.peopleOf(""), []);
});

test("an unusual message id is written for a path as the API writes it", () => {
  equal(ids.inPath("3EB0A1-_x"), "3EB0A1-_x");
  equal(ids.inPath(".."), "~Li4");
});

test("a post is taken if it is signed and not old", () => {
  const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
  const now = Date.UTC(2026, 10, 21);
  const at = String(now / 1000);
  const sign = (id, time, body) => `v1,${createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(`${id}.${time}.${body}`).digest("base64")}`;
  const post = (more) => ({ "webhook-id": "evt_1", "webhook-timestamp": at, "webhook-signature": sign("evt_1", at, "{}"), ...more });
  equal(signature.faultOf(secret, post(), Buffer.from("{}"), now), undefined);
  equal(signature.faultOf(secret, post({ "webhook-signature": `v1,other ${sign("evt_1", at, "{}")}` }), "{}", now), undefined);
  match(signature.faultOf(secret, post(), "{ }", now), /wrong/);
  match(signature.faultOf(secret, post({ "webhook-id": "evt_2" }), "{}", now), /wrong/);
  match(signature.faultOf(secret, post({ "webhook-signature": "v1,ä" }), "{}", now), /wrong/);
  match(signature.faultOf(secret, post(), "{}", now + 301_000), /too old/);
  match(signature.faultOf(secret, {}, "{}", now), /not signed/);
});

test("a call is repeated where the bridge says when, or the outcome is unknown", () => {
  const refusal = (status, code, retryAfter) => ({ status, code, error: "x", retryAfter });
  equal(api.pauseBefore(refusal(503, "not_connected", 5)), 5);
  equal(api.pauseBefore(refusal(429, "look_ups_limited", 3600)), 3600);
  equal(api.pauseBefore(refusal(504, "send_timeout")), 1);
  equal(api.pauseBefore(refusal(409, "request_in_progress")), 1);
  for (const code of ["idempotency_mismatch", "group_changed", "not_found"]) equal(api.pauseBefore(refusal(409, code)), undefined);
});

// execution stands for what n8n gives a node.
const execution = ({ id = "7", run = 0 } = {}) => ({
  getNode: () => ({ id: "node" }),
  getInstanceId: () => "instance",
  getWorkflow: () => ({ id: "flow" }),
  getExecutionId: () => id,
  getWorkflowDataProxy: () => ({ $runIndex: run }),
});

test("a key is the same in every try of an item, and another one elsewhere", () => {
  const key = idempotency.keyOf(execution(), 0);
  match(key, /^[!-~]{1,255}$/);
  equal(idempotency.keyOf(execution(), 0), key);
  for (const other of [idempotency.keyOf(execution(), 1), idempotency.keyOf(execution({ run: 1 }), 0), idempotency.keyOf(execution({ id: "8" }), 0)]) equal(other === key, false);
  equal(idempotency.keyOf(execution(), 0, "order-4711"), idempotency.keyOf(execution({ id: "8" }), 3, "order-4711"));
});

// bridge answers calls from a table of paths.
const bridge = (answers, calls = []) => ({
  getNode: () => ({ id: "node", name: "Bridged", type: "bridged", typeVersion: 1, position: [0, 0], parameters: {} }),
  getCredentials: async () => ({ baseUrl: "http://bridge/" }),
  helpers: {
    httpRequestWithAuthentication: async (type, { url, qs }) => {
      calls.push([url, qs]);
      const answer = answers[new URL(url).pathname];
      return typeof answer === "function" ? answer(qs) : { statusCode: 200, headers: {}, body: answer };
    },
  },
});

test("a name finds the one that has it, without accents and case, and no other", async () => {
  const chats = [{ jid: "1@s.whatsapp.net", name: "Sofía" }, { jid: "2@s.whatsapp.net", name: "Sofía Ramírez" }, { jid: "3@g.us", name: "Readers" }, { jid: "4@g.us", name: "readers" }];
  const answers = { "/api/chats": { chats, nextCursor: null }, "/api/contacts": { contacts: [{ jid: "5@s.whatsapp.net", name: "", pushName: "Grace", businessName: "", username: null, phone: "5" }], nextCursor: null } };
  const find = (kind, text) => lookup.find(bridge(answers), kind, text, 0);
  equal(await find("chat", "sofia"), "1@s.whatsapp.net");
  equal(await find("chat", "Grace"), "5@s.whatsapp.net");
  equal(await find("chat", "+34 600 100 101"), "34600100101@s.whatsapp.net");
  await find("chat", "Sof").then(() => { throw new Error("found"); }, (error) => match(error.description, /Similar: Sofía \(1@/));
  await find("group", "Readers").then(() => { throw new Error("found"); }, (error) => match(error.message, /Several/));
  await find("chat", " ").then(() => { throw new Error("found"); }, (error) => match(error.message, /No chat is given/));
});

test("a refusal is the bridge's sentence, and a page of a proxy is told apart", async () => {
  const answers = {
    "/a": () => ({ statusCode: 429, headers: { "retry-after": "3600" }, body: { error: "slow down", code: "rate_limited" } }),
    "/b": () => ({ statusCode: 502, headers: {}, body: "<html>" }),
  };
  const { refusal } = await api.ask(bridge(answers), { path: "/a" });
  deepEqual(refusal, { status: 429, code: "rate_limited", error: "slow down", retryAfter: 3600 });
  const failure = api.failure(bridge({}).getNode(), refusal);
  deepEqual([failure.message, failure.description, failure.httpCode], ["slow down", "rate_limited (429, repeat after 3600 s)", "429"]);
  match((await api.ask(bridge(answers), { path: "/b" })).refusal.error, /not as bridged does/);
});

test("a list to choose from goes on where the page before ended", async () => {
  const calls = [];
  const answers = { "/api/chats": ({ cursor }) => ({ statusCode: 200, headers: {}, body: { chats: [{ jid: `${cursor ?? 0}@g.us`, name: "" }], nextCursor: cursor ? null : "next" } }) };
  const page = (cursor) => lookup.listSearch.searchGroups.call(bridge(answers, calls), "q", cursor);
  deepEqual(await page(), { results: [{ name: "0@g.us", value: "0@g.us" }], paginationToken: "next" });
  deepEqual((await page("next")).paginationToken, undefined);
  deepEqual(calls.map(([, qs]) => [qs.q, qs.type, qs.cursor]), [["q", "group", undefined], ["q", "group", "next"]]);
});

test("after an unknown outcome, the same call is repeated, and then no more", async () => {
  const calls = [];
  const answers = { "/api/messages/send": () => (calls.length === 1 ? { statusCode: 504, headers: {}, body: { error: "later", code: "send_timeout" } } : { statusCode: 200, headers: {}, body: { ok: true } }) };
  const { body } = await api.insist(bridge(answers, calls), () => ({ method: "POST", path: "/api/messages/send", qs: { key: 1 } }));
  deepEqual([body, calls.length, calls[0]], [{ ok: true }, 2, calls[1]]);
});

test("a form has its fields and the file's bytes, from memory or as a stream", async () => {
  const bytes = Buffer.from([0, 13, 10, 45, 45, 255, ...Buffer.from("--bridged")]);
  const file = { data: bytes.toString("base64"), mimeType: "application/pdf", fileName: 'a "plan".pdf' };
  for (const binary of [file, { ...file, id: "filesystem:1" }]) {
    const context = { helpers: { assertBinaryData: () => binary, getBinaryStream: async () => Readable.from([bytes.subarray(0, 4), bytes.subarray(4)]) } };
    const { body, headers } = await files.form(context, 0, "data", { jid: "1@g.us", caption: "¿Qué?", ptt: false });
    const sent = Buffer.concat(await Readable.from(Buffer.isBuffer(body) ? [body] : body).toArray());
    const form = await new Response(sent, { headers }).formData();
    deepEqual(["jid", "caption", "ptt"].map((name) => form.get(name)), ["1@g.us", "¿Qué?", "false"]);
    const got = form.get("file");
    deepEqual([got.name, got.type, Buffer.from(await got.arrayBuffer())], ['a "plan".pdf', "application/pdf", bytes]);
  }
});

test("a film that is converted has the time for it", async () => {
  const calls = [];
  const helpers = { httpRequestWithAuthentication: async (_, options) => calls.push(options) && { statusCode: 200, headers: {}, body: { ok: true } } };
  const parameters = { chat: "1@g.us", url: "https://example.org/film.webm", type: "video", options: { convert: true } };
  const context = { ...bridge({}), ...execution(), helpers, getNodeParameter: (name) => parameters[name] };
  const sendMedia = table.resources.find(({ value }) => value === "message").operations.find(({ value }) => value === "sendMedia");
  await doing.perform(context, sendMedia, 0);
  const [{ body, timeout }] = calls;
  deepEqual(body, { jid: "1@g.us", url: "https://example.org/film.webm", type: "video", convert: true });
  ok(timeout > 13 * 60_000, `${timeout} ms`); // the bridge's own limit
});

test("a webhook that could not be removed is made anew when the trigger asks for another", async () => {
  const calls = [];
  const state = {};
  const parameters = { types: ["message.created"], chats: [], chatType: "all", messages: "others", allowPrivate: false };
  const helpers = {
    httpRequestWithAuthentication: async (_, { method, url, body }) => {
      calls.push(`${method} ${new URL(url).pathname}`);
      return { statusCode: 200, headers: {}, body: { id: 7, enabled: true, secret: "whsec_x", url: body?.url } };
    },
  };
  const context = { ...bridge({}), helpers, getWorkflowStaticData: () => state, getNodeWebhookUrl: () => "https://n8n.example/w", getNodeParameter: (name) => parameters[name] };
  const { checkExists, create } = new webhook.BridgedWebhookTrigger().webhookMethods.default;
  equal(await checkExists.call(context), false);
  await create.call(context);
  equal(await checkExists.call(context), true);
  parameters.chats = ["1@g.us"];
  equal(await checkExists.call(context), false);
  deepEqual(calls, ["POST /api/webhooks", "GET /api/webhooks/7", "GET /api/webhooks/7", "DELETE /api/webhooks/7"]);
  deepEqual(state, {});
});
