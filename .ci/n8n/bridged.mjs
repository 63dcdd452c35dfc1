// n8n-nodes-bridged in n8n: what the node does, and that its trigger starts one execution
// for each event, whatever becomes of n8n.
import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, request as forward } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { check } from "./shared/table.mjs";
import { Inbox, listen, textOf } from "./demo.mjs";

const step = (what, take) => check("Bridged", what, take);

export async function useBridged(demo, n8n) {
  const { friend } = demo;
  const about = { baseUrl: demo.address, token: await demo.key("n8n's own node", "read", "send", "manage") };
  const credentials = await n8n.credential("bridgedApi", about);
  const node = (resource, operation, parameters, more = {}) => ({
    name: "Bridged", type: "n8n-nodes-bridged.bridged", typeVersion: 1, credentials, parameters: { resource, operation, ...parameters }, ...more,
  });
  const locator = (mode, value) => ({ __rl: true, mode, value });
  const toFriend = locator("id", friend.jid);

  // does publishes a workflow with an operation, runs it and returns the items of the node.
  let flows = 0;
  const does = async (resource, operation, parameters, body) => n8n.run(await n8n.publish(`bridged-${++flows}`, [node(resource, operation, parameters)]), body);

  await step("the credential's test", async () => {
    equal((await n8n.tested("bridgedApi", about)).status, "OK");
    const wrong = await n8n.tested("bridgedApi", { ...about, token: "wrong" });
    deepEqual([wrong.status, /does not accept this token/.test(wrong.message)], ["Error", true], wrong.message);
    const elsewhere = await n8n.tested("bridgedApi", { ...about, baseUrl: `${demo.address}/console` });
    equal(elsewhere.status, "Error", elsewhere.message);
  });
  await step("the HTTP node takes the credential", async () => {
    const parameters = { url: `${demo.address}/api/token`, authentication: "predefinedCredentialType", nodeCredentialType: "bridgedApi" };
    const flow = await n8n.publish("bridged-http", [{ name: "HTTP", type: "n8n-nodes-base.httpRequest", typeVersion: 4.2, credentials, parameters }]);
    deepEqual((await n8n.run(flow))[0].scopes, ["read", "send", "manage"]);
  });
  await step("chats, people and groups to choose from, page after page", async () => {
    const lists = (methodName, filter, paginationToken) => n8n.call("POST", "/rest/dynamic-node-parameters/resource-locator-results", {
      path: "parameters.chat", nodeTypeAndVersion: { name: "n8n-nodes-bridged.bridged", version: 1 }, methodName, filter, paginationToken, credentials, currentNodeParameters: {},
    });
    ok((await lists("searchChats", "sofi")).results.some(({ value }) => value === friend.jid));
    ok((await lists("searchContacts", friend.phone)).results.some(({ value }) => value === friend.jid));
    const groups = (await lists("searchGroups")).results;
    ok(groups.length > 0 && groups.every(({ name, value }) => name && value.endsWith("@g.us")), JSON.stringify(groups));
  });
  await step("a text to a chat by JID, number and name, with a quote", async () => {
    for (const [mode, value] of [["list", friend.jid], ["id", friend.jid], ["number", "+34 600 10 01 01"], ["name", (await demo.call("GET", `/api/chats/${friend.jid}`)).name]]) {
      const text = `por ${mode} ${randomUUID()}`;
      const [sent] = await does("message", "sendText", { chat: locator(mode, value), text: "={{ $json.body.text }}" }, { text });
      equal(sent.chatJid, friend.jid);
      const answer = await demo.answered(text);
      const [reply] = await does("message", "sendText", { chat: toFriend, text: `y ${mode}`, options: { quotedMsgId: answer.msgId } });
      equal((await demo.message(reply.msgId)).contextInfo.quotedMsgId, answer.msgId);
    }
  });
  await step("a name that nobody has is refused with those that are similar", async () => {
    const flow = await n8n.publish("bridged-nobody", [node("message", "sendText", { chat: locator("name", "Sof"), text: "x" })]);
    const shown = await n8n.fails(flow);
    match(shown, /No chat has the name \\"Sof\\"/);
    match(shown, /Similar: [^"]*Sof/);
  });
  await step("other messages: location, contact, poll, reaction, edit, forward, delete", async () => {
    const [{ msgId }] = await does("message", "sendText", { chat: toFriend, text: "a change" });
    await does("message", "edit", { chat: toFriend, msgId, text: "changed" });
    await demo.message(msgId, (m) => m.content === "changed");
    await does("message", "react", { chat: toFriend, msgId, emoji: "👍" });
    await does("message", "pin", { chat: toFriend, msgId, duration: "24h" });
    await demo.message(msgId, (m) => m.pinnedUntil);
    equal((await does("message", "getAll", { chat: toFriend, returnAll: true, options: { pinned: "true" } })).length, 1);
    await does("message", "unpin", { chat: toFriend, msgId });
    await demo.message(msgId, (m) => !m.pinnedUntil);
    await demo.message(msgId, (m) => m.reactions.some(({ emoji }) => emoji === "👍"));
    const [forwarded] = await does("message", "forward", { chat: toFriend, msgId, toChat: toFriend });
    equal((await demo.message(forwarded.msgId)).content, "changed");
    await does("message", "delete", { chat: toFriend, msgId });
    await demo.message(msgId, (m) => m.deletedAt);
    const [place] = await does("message", "sendLocation", { chat: toFriend, latitude: 52.5163, longitude: 13.3777, options: { name: "Tor" } });
    equal((await demo.message(place.msgId)).location.name, "Tor");
    const [poll] = await does("message", "sendPoll", { chat: toFriend, name: "¿Cuándo?", values: ["hoy", "mañana"] });
    deepEqual((await demo.message(poll.msgId)).poll.options.map(({ name }) => name), ["hoy", "mañana"]);
    await does("message", "star", { chat: toFriend, msgId: place.msgId });
    equal((await does("message", "getAll", { chat: toFriend, returnAll: true, options: { starred: "true" } })).length, 1);
    await does("message", "unstar", { chat: toFriend, msgId: place.msgId });
    await demo.message(place.msgId, (m) => !m.starred);
    await does("message", "vote", { chat: toFriend, msgId: poll.msgId, answers: ["mañana"] });
    await demo.message(poll.msgId, (m) => m.poll.options[1].votes === 1);
    await does("message", "vote", { chat: toFriend, msgId: poll.msgId, answers: [] });
    await demo.message(poll.msgId, (m) => m.poll.options[1].votes === 0);
    const [card] = await does("message", "sendContact", { chat: toFriend, contacts: { contact: [{ displayName: "Jonas Weber", phone: "+49 1510 0100102", email: "", organization: "", title: "" }] } });
    equal((await demo.message(card.msgId)).contacts[0].displayName, "Jonas Weber");
  });
  await step("reading: histories and searches page after page, chats, contacts, groups, calls, the account", async () => {
    const history = await does("message", "getAll", { chat: toFriend, returnAll: true, options: { order: "asc" } });
    const { messages } = await demo.call("GET", `/api/messages/individual/${friend.jid}?limit=1000&order=asc`);
    deepEqual(history.map(({ msgId }) => msgId), messages.map(({ msgId }) => msgId));
    deepEqual((await does("message", "search", { q: "changed", returnAll: false, limit: 1 })).length, 1);
    const [{ message }] = await does("message", "get", { chat: toFriend, msgId: messages[0].msgId });
    equal(message.msgId, messages[0].msgId);
    const groups = await does("chat", "getAll", { returnAll: true, options: { kind: "group" } });
    ok(groups.length > 0 && groups.every(({ isGroup }) => isGroup));
    deepEqual((await does("group", "getAll", { returnAll: true })).map((found) => found.jid), groups.map((found) => found.jid));
    const [{ jid }] = groups;
    equal((await does("group", "get", { group: locator("name", groups[0].name) }))[0].jid, jid);
    equal((await does("message", "getAll", { chat: locator("id", jid), returnAll: false, limit: 2 })).length, 2);
    equal((await does("contact", "get", { contact: toFriend }))[0].jid, friend.jid);
    deepEqual((await does("contact", "check", { phones: ["+34 600 10 01 01"] })).map((found) => found.jid), [friend.jid]);
    equal((await does("account", "getStatus", {}))[0].status, "open");
    ok(Array.isArray(await does("call", "getAll", { returnAll: false, limit: 5 })));
  });
  await step("chats and groups change", async () => {
    await does("chat", "update", { chat: toFriend, options: { pinned: true, mutedUntil: "forever" } });
    const pinned = await demo.call("GET", `/api/chats/${friend.jid}`);
    ok(pinned.pinned && pinned.mutedUntil);
    await does("chat", "update", { chat: toFriend, options: { pinned: false, mutedUntil: "" } });
    equal((await demo.call("GET", `/api/chats/${friend.jid}`)).mutedUntil, null);
    await does("chat", "markRead", { chat: toFriend });
    equal(await demo.unread(friend.jid), 0);
    await does("chat", "showTyping", { chat: toFriend, state: "paused" });
    const [{ jid }] = await does("group", "create", { name: "Lectores", participants: "+34 600 10 01 01" });
    await does("group", "update", { group: locator("id", jid), options: { topic: "Capítulo dos" } });
    await demo.group(jid, ({ topic }) => topic === "Capítulo dos");
    const [{ link }] = await does("group", "getInvite", { group: locator("id", jid) });
    match(link, /^https:\/\/chat\.whatsapp\.com\//);
    equal((await does("group", "getInvited", { code: link }))[0].name, "Lectores");
    equal((await does("group", "changeMembers", { group: locator("id", jid), action: "promote", participants: [friend.jid] }))[0].participants[0].status, "done");
    await does("contact", "save", { contact: toFriend, name: "Sofía R." });
    equal((await does("contact", "getAll", { returnAll: true, options: { saved: "true", q: "Sofía R." } }))[0].jid, friend.jid);
    await does("contact", "save", { contact: toFriend, name: friend.name });
    await does("contact", "block", { contact: toFriend });
    equal((await does("contact", "get", { contact: toFriend }))[0].isBlocked, true);
    await does("contact", "unblock", { contact: toFriend });
  });
  await step("what the bridge refuses is shown in its words, and an item of it where the node goes on", async () => {
    const { error } = await (await demo.request("DELETE", `/api/chats/${friend.jid}/messages/none`)).json();
    const refused = node("message", "delete", { chat: toFriend, msgId: "none" });
    ok((await n8n.fails(await n8n.publish("bridged-refused", [refused]))).includes(error));
    const [item] = await n8n.run(await n8n.publish("bridged-goes-on", [{ ...refused, onError: "continueRegularOutput" }]));
    deepEqual(item, { error });
  });

  await step("every operation is a route of the API, and its fields are that route's", () => table(demo, n8n));
  await files({ demo, n8n, node, toFriend });
  await lostAnswers({ demo, n8n, node, about, toFriend });
  await tool({ demo, n8n, node, toFriend });
  await webhooks({ demo, n8n, credentials });
  await log({ demo, n8n, credentials });
}

// table compares the node's table of operations with the bridge's OpenAPI document.
async function table(demo, n8n) {
  const require = createRequire(join(n8n.work, "home/.n8n/nodes/package.json"));
  const { resources } = require("n8n-nodes-bridged/dist/nodes/Bridged/operations/index.js");
  const document = await demo.call("GET", "/openapi.json");
  const at = (part) => (part?.$ref ? part.$ref.slice(2).split("/").reduce((found, name) => found[name], document) : part);
  for (const { value: resource, operations } of resources) {
    for (const { value, method = "GET", path, fields = [], options = [], always = {} } of operations) {
      const what = `${resource} ${value}`;
      const names = [...[...fields, ...options].map(({ as, property }) => as ?? property.name), ...Object.keys(always)];
      for (const jid of typeof path === "string" ? [""] : ["1@g.us", "1@s.whatsapp.net"]) {
        const [template, query] = (typeof path === "string" ? path : path({ jid })).split("?");
        const shape = (text) => text.replace(/\{\w+\}/g, "{}");
        const route = Object.entries(document.paths).find(([known]) => shape(known) === shape(template))?.[1];
        const described = route?.[method.toLowerCase()];
        ok(described, `${what}: the API has no ${method} ${template}`);
        const [content] = Object.values(described.requestBody?.content ?? {});
        const body = at(content?.schema)?.properties ?? {};
        const parameters = [...(route.parameters ?? []), ...(described.parameters ?? [])].map((one) => at(one).name);
        for (const name of new URLSearchParams(query).keys()) ok(parameters.includes(name), `${what}: the API has no parameter ${name} of ${method} ${template}`);
        const inPath = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        const unknown = names.filter((name) => !inPath.includes(name) && !(method === "GET" ? parameters.includes(name) : name in body));
        deepEqual(unknown.filter((name) => !(name === "sender" && jid === "1@s.whatsapp.net")), [], what);
        deepEqual(inPath.filter((name) => !names.includes(name)), [], what);
      }
    }
  }
}

// Files go in and out as they are: n8n gets one, the node sends it, and one with a file
// downloads it and sends it on.
async function files({ demo, n8n, node, toFriend }) {
  await step("a file goes out of n8n and comes in as it is", async () => {
    const large = Buffer.alloc(3 << 20, "¿Qué tal? ");
    for (const [name, type, bytes] of [["picture.jpg", "image/jpeg", demo.picture], ["grande \"1\".txt", "text/plain", large]]) {
      const site = await listen(async (_, response) => response.writeHead(200, { "Content-Type": type, "Content-Disposition": `inline; filename*=UTF-8''${encodeURIComponent(name)}` }).end(bytes));
      const fetched = { name: "Fetch", type: "n8n-nodes-base.httpRequest", typeVersion: 4.2, parameters: { url: `${site.url}file`, options: { response: { response: { responseFormat: "file" } } } } };
      const send = node("message", "sendFile", { chat: toFriend, options: { type: "document", caption: "de n8n" } });
      const download = { ...node("message", "download", { chat: toFriend, msgId: "={{ $json.msgId }}", binaryPropertyName: "file" }), name: "Download" };
      const again = { ...node("message", "sendFile", { chat: toFriend, binaryPropertyName: "file", options: { type: "document", caption: "de vuelta" } }), name: "Again" };
      const [{ msgId }] = await n8n.run(await n8n.publish(`bridged-file-${type.replace("/", "-")}`, [fetched, send, download, again]));
      site.close();
      const last = await demo.message(msgId);
      ok((await demo.file(last)).equals(bytes), "the bytes differ");
      const first = await demo.that((m) => m.content === "de n8n" && m.media.mimetype === last.media.mimetype);
      deepEqual([first.media.size, first.media.mimetype.split(";")[0]], [bytes.length, type]);
    }
  });
}

// A proxy loses the answer to a send. n8n tries the node again, and the bridge sends once.
async function lostAnswers({ demo, n8n, node, about, toFriend }) {
  await step("an answer that is lost, and n8n's retry on fail: one message", async () => {
    const keys = [];
    const proxy = createServer((request, response) => {
      const { hostname, port } = new URL(demo.address);
      const onward = forward({ hostname, port, path: request.url, method: request.method, headers: request.headers }, (answer) => {
        if (request.method !== "POST") return void answer.pipe(response.writeHead(answer.statusCode, answer.headers));
        keys.push(request.headers["idempotency-key"]);
        if (keys.length % 2) return void answer.resume().on("end", () => request.socket.destroy());
        answer.pipe(response.writeHead(answer.statusCode, answer.headers));
      });
      request.pipe(onward);
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const credentials = await n8n.credential("bridgedApi", { ...about, baseUrl: `http://127.0.0.1:${proxy.address().port}` });
    const text = `una sola vez ${randomUUID()}`;
    const send = { ...node("message", "sendText", { chat: toFriend, text: "={{ $json.text }}" }, { retryOnFail: true, maxTries: 3, waitBetweenTries: 100 }), credentials };
    const two = { name: "Two", type: "n8n-nodes-base.set", typeVersion: 3.4, parameters: { mode: "raw", jsonOutput: JSON.stringify({ text }), options: {} } };
    const sent = await n8n.run(await n8n.publish("bridged-lost", [two, send]));
    proxy.close();
    equal(sent.length, 1);
    deepEqual([keys.length, new Set(keys).size], [2, 1], keys.join());
    const { matches } = await demo.call("GET", `/api/messages/search?fromMe=true&q=${encodeURIComponent(text)}`);
    deepEqual(matches.map(({ msgId }) => msgId), [sent[0].msgId]);
  });
}

// An agent with a model of ours uses the node as its tool: twice at a time, and once more.
async function tool({ demo, n8n, toFriend, node }) {
  await step("an AI agent sends with it as a tool, several times", async () => {
    const asked = [];
    const texts = [1, 2, 3].map((n) => `de parte del agente ${n} ${randomUUID()}`);
    const model = await listen(async (request, response) => {
      const body = JSON.parse(await textOf(request));
      asked.push(body);
      const said = body.messages.filter(({ role }) => role === "tool").length;
      const done = said === texts.length;
      const call = (text) => ({ id: `call_${texts.indexOf(text)}`, type: "function", function: { name: body.tools?.[0].function.name, arguments: JSON.stringify({ text }) } });
      const calls = said ? texts.slice(said) : texts.slice(0, 2);
      const message = done ? { role: "assistant", content: "Dicho." } : { role: "assistant", content: null, tool_calls: calls.map(call) };
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({
        id: "chatcmpl-1", object: "chat.completion", created: 1, model: body.model,
        choices: [{ index: 0, message, finish_reason: done ? "stop" : "tool_calls" }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }));
    });
    const openAi = await n8n.credential("openAiApi", { apiKey: "none", url: `${model.url}v1` });
    const agent = { name: "Agent", type: "@n8n/n8n-nodes-langchain.agent", typeVersion: 2, parameters: { promptType: "define", text: "Di algo a Sofía", options: {} } };
    const used = {
      nodes: [
        { name: "Model", type: "@n8n/n8n-nodes-langchain.lmChatOpenAi", typeVersion: 1.2, credentials: openAi, parameters: { model: { __rl: true, mode: "id", value: "stub" }, options: {} } },
        { ...node("message", "sendText", { chat: toFriend, text: "={{ $fromAI('text', 'what to say', 'string') }}", toolDescription: "Send a text" }), type: "n8n-nodes-bridged.bridgedTool", name: "Tool" },
      ],
      connections: { Model: { ai_languageModel: [[{ node: "Agent", type: "ai_languageModel", index: 0 }]] }, Tool: { ai_tool: [[{ node: "Agent", type: "ai_tool", index: 0 }]] } },
    };
    const [{ output }] = await n8n.run(await n8n.publish("bridged-agent", [agent], true, used));
    model.close();
    equal(output, "Dicho.");
    for (const text of texts) equal((await demo.written(text)).chatJid, toFriend.value);
    ok(asked[0].tools[0].function.parameters.properties.text, JSON.stringify(asked[0].tools));
  });
}

// told describes a node that posts what its workflow got to an inbox.
const told = (url) => ({
  name: "Tell", type: "n8n-nodes-base.httpRequest", typeVersion: 4.2,
  parameters: { method: "POST", url, sendBody: true, specifyBody: "json", jsonBody: "={{ JSON.stringify($json) }}" },
});

// receiver returns an inbox for what workflows tell.
async function receiver() {
  const inbox = new Inbox();
  inbox.all = [];
  const site = await listen(async (request, response) => {
    const item = JSON.parse(await textOf(request));
    inbox.all.push(item);
    inbox.put(item);
    response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
  });
  return Object.assign(inbox, { url: site.url, close: site.close });
}

async function webhooks({ demo, n8n, credentials }) {
  const { friend } = demo;
  const inbox = await receiver();
  const trigger = {
    name: "Posted", type: "n8n-nodes-bridged.bridgedWebhookTrigger", typeVersion: 1, webhookId: randomUUID(), credentials,
    parameters: { types: ["message.created"], messages: "others", chatType: "individual", chats: [friend.jid], allowPrivate: true },
  };
  let flow, webhook;
  const webhooksHere = async () => (await demo.call("GET", "/api/webhooks")).webhooks.filter(({ url }) => url.startsWith(n8n.address));
  await step("the webhook trigger registers, and starts with what the bridge posts", async () => {
    flow = await n8n.activate("bridged-webhook", [trigger, told(inbox.url)]);
    while (!webhook) [webhook] = await webhooksHere(); // n8n activates after its answer
    deepEqual([webhook.types, webhook.fromMe, webhook.chatType, webhook.chats], [["message.created"], false, "individual", [friend.jid]]);
    const text = `por webhook ${randomUUID()}`;
    await demo.call("POST", "/api/messages/send", { jid: friend.jid, text });
    const item = await inbox.that(({ message }) => message?.content.includes(`«${text}»`));
    deepEqual([item.type, item.chatJid], ["message.created", friend.jid]);
    notEqual(item.webhookId, undefined);
  });
  await step("a post with a wrong or old signature is refused, and a repetition starts nothing", async () => {
    const started = async () => [...new Set((await n8n.executions(flow)).map(({ id }) => id))];
    const before = await started();
    const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const post = async (key, at) => {
      const body = JSON.stringify({ type: "message.created", data: { message: { content: "falso" } } });
      const signature = `v1,${createHmac("sha256", Buffer.from(key.slice(6), "base64")).update(`evt_1.${at}.${body}`).digest("base64")}`;
      const answer = await fetch(webhook.url, { method: "POST", body, headers: { "Content-Type": "application/json", "webhook-id": "evt_1", "webhook-timestamp": `${at}`, "webhook-signature": signature } });
      return [answer.status, (await answer.json()).error];
    };
    const now = Math.floor(Date.now() / 1000);
    deepEqual(await post(secret, now), [401, "The signature is wrong"]);
    equal((await fetch(webhook.url, { method: "POST", body: "{}" })).status, 401);
    await demo.call("PATCH", `/api/webhooks/${webhook.id}`, { enabled: true });
    const { deliveries } = await demo.call("GET", `/api/webhooks/${webhook.id}/deliveries?status=delivered`);
    equal((await demo.call("POST", `/api/webhooks/${webhook.id}/deliveries/${deliveries[0].id}/redeliver`)).status, "delivered");
    equal((await demo.call("POST", `/api/webhooks/${webhook.id}/test`)).ok, true);
    deepEqual(await started(), before);
  });
  await step("it takes its webhook away when the workflow is switched off", async () => {
    await n8n.deactivate(flow);
    while ((await webhooksHere()).length); // and deactivates then, too
  });
  inbox.close();
}

// The trigger by the log, over kills of n8n: while nothing runs, and in the middle.
async function log({ demo, n8n, credentials }) {
  const { friend } = demo;
  const inbox = await receiver();
  const trigger = {
    name: "Bridged Trigger", type: "n8n-nodes-bridged.bridgedTrigger", typeVersion: 1, credentials,
    parameters: { types: ["message.created"], messages: "others", chatType: "individual", chats: [friend.jid], options: { download: "data" } },
  };
  let flow;
  const { nextCursor: start } = await demo.call("GET", "/api/events?after=now");
  const texts = [];
  const talk = async (count) => {
    for (let i = 0; i < count; i++) {
      const text = `${texts.length} ${randomUUID()}`;
      texts.push(text);
      await demo.call("POST", "/api/messages/send", { jid: friend.jid, text });
      await demo.answered(text);
    }
  };
  const wanted = async () => (await demo.call("GET", `/api/events?after=${start}&types=message.created&fromMe=false&chat=${friend.jid}&limit=1000`)).events;
  const heard = (text) => inbox.that(({ message }) => message?.content.includes(`«${text}»`));
  const numbers = () => inbox.all.map(({ id }) => id);

  await step("the trigger starts one execution for each event", async () => {
    flow = await n8n.activate("bridged-log", [trigger, told(inbox.url)]);
    await n8n.kept(flow, trigger.name);
    await talk(2);
    for (const text of texts) await heard(text);
    deepEqual(numbers(), (await wanted()).map(({ id }) => id));
  });
  await n8n.kill();
  await step("people write while n8n is down, which was killed", () => talk(3));
  await n8n.resume();
  await step("n8n starts once with each of them, and with none of those before", async () => {
    await talk(1);
    for (const text of texts) await heard(text);
    deepEqual(numbers(), (await wanted()).map(({ id }) => id));
  });
  let talking;
  await step("people write while n8n works, and is killed in the middle", async () => {
    const until = inbox.all.length + 2;
    talking = talk(6);
    await inbox.that(() => inbox.all.length >= until);
  });
  await n8n.kill();
  await talking;
  await n8n.resume();
  await step("each event has one execution; those that the kill broke off are shown as crashed", async () => {
    await talk(1);
    await heard(texts.at(-1));
    const ids = (await wanted()).map(({ id }) => id);
    const executions = await n8n.executions(flow);
    const crashed = executions.filter(({ status }) => status === "crashed").length;
    equal(executions.length, ids.length, JSON.stringify(executions.map(({ id, status }) => [id, status])));
    equal(new Set(numbers()).size, numbers().length, "an event was told twice");
    ok(numbers().length >= ids.length - crashed, `${numbers().length} of ${ids.length} were told, ${crashed} crashed`);
  });
  await n8n.deactivate(flow);
  await step("the trigger brings a message's file as it is", async () => {
    const received = new Inbox();
    const site = await listen(async (request, response) => {
      const parts = [];
      for await (const part of request) parts.push(part);
      received.put(Buffer.concat(parts));
      response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    });
    const own = { ...trigger, parameters: { ...trigger.parameters, messages: "own" } };
    const post = { name: "Post", type: "n8n-nodes-base.httpRequest", typeVersion: 4.2, parameters: { method: "POST", url: site.url, sendBody: true, contentType: "binaryData", inputDataFieldName: "data" } };
    const bringing = await n8n.activate("bridged-log-files", [own, post]);
    await n8n.kept(bringing, trigger.name);
    const form = new FormData();
    form.set("jid", friend.jid);
    form.set("file", new Blob([demo.picture], { type: "image/jpeg" }), "picture.jpg");
    equal((await fetch(`${demo.address}/api/messages/send-file`, { method: "POST", headers: { Authorization: `Bearer ${demo.token}` }, body: form })).status, 200);
    ok((await received.that(() => true)).equals(demo.picture), "the bytes differ");
    site.close();
    await n8n.deactivate(bringing);
  });
  await step("in the editor, the trigger waits for one event", async () => {
    const { length } = inbox.all;
    await n8n.call("POST", `/rest/workflows/${flow.id}/run`, { triggerToStartFrom: { name: trigger.name } });
    while (inbox.all.length === length) await talk(1); // until it listens
    equal(inbox.all.at(-1).type, "message.created");
  });
  inbox.close();
}
