// Runs workflows in n8n against the demo, whose people answer: n8n-nodes-bridged, the
// operations of Evolution API's node, a webhook that a workflow sets and answers, and n8n's
// HTTP node at the API of WAHA. Prints "N passed, N failed".
import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { check, print } from "./shared/table.mjs";
import { Demo, listen } from "./demo.mjs";
import { N8n } from "./n8n.mjs";
import { useBridged } from "./bridged.mjs";

const [work, program] = process.argv.slice(2);
const demo = new Demo(work);
await demo.start({ COMPAT: "waha,evolution" });
const n8n = new N8n(work, program);
await n8n.start();
const { friend } = demo;

await useBridged(demo, n8n);

// answerTo returns what the friend answers to a text.
const answerTo = (text) => `¡Qué bien saber de ti! Me escribiste: «${text}»`;

const step = (what, take) => check("Evolution API's node", what, take);
const key = await demo.key("n8n", "read", "send", "manage");
const about = { "server-url": `${demo.address}/evolution`, apikey: key };
const credentials = await n8n.credential("evolutionApi", about);

// evolution describes a node that does an operation.
const evolution = (resource, operation, parameters) => ({
  name: "Evolution API", type: "n8n-nodes-evolution-api.evolutionApi", typeVersion: 1, credentials,
  parameters: { resource, operation, instanceName: "bridged", ...parameters },
});

// does publishes a workflow with an operation, runs it and returns the answer that the node
// put out. Texts are taken from the body, as flows take them from what went before.
async function does(resource, operation, parameters) {
  const fromBody = Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, typeof value === "string" ? `={{ $json.body.${name} }}` : value]));
  const flow = await n8n.publish(operation, [evolution(resource, operation, fromBody)]);
  const [item] = await n8n.run(flow, parameters);
  equal(item.success, true, JSON.stringify(item));
  return item.data;
}

// answering describes a flow that answers one text, of those that its webhook receives.
const answering = (field, text, node) => [{
  name: "If", type: "n8n-nodes-base.if", typeVersion: 1,
  parameters: { conditions: { string: [{ value1: `={{ $json.${field} }}`, value2: text }] } },
}, node];

const text = "¿Tienes café? ☕";
const answered = answerTo(text);

await step("the credential's test", async () => {
  equal(await n8n.test("evolutionApi", about), "OK");
  equal(await n8n.test("evolutionApi", { ...about, apikey: "wrong" }), "Error");
});
await step("fetch instances", async () => {
  const [instance] = await does("instances-api", "fetch-instances", { instanceName: "bridged" });
  deepEqual([instance.name, instance.connectionStatus, instance.ownerJid], ["bridged", "open", `${demo.account}@s.whatsapp.net`]);
});
await step("set a webhook to n8n's Webhook node, and find it", async () => {
  const { url } = await n8n.publish("answering", answering("body.data.message.conversation", answered, evolution("messages-api", "send-text", {
    remoteJid: "={{ $json.body.data.key.remoteJid }}",
    messageText: "={{ [$json.body.event, $json.body.instance, $json.body.data.pushName, $json.body.data.messageType, $json.body.sender].join(' ') }}",
    options_message: { quoted: { messageQuoted: { messageId: "={{ $json.body.data.key.id }}" } } },
  })), false);
  const set = { resourceForWebhook: "setWebhook", enabled: true, webhookUrl: url, webhookByEvents: false, webhookBase64: false, webhookEvents: ["MESSAGES_UPSERT"] };
  const [{ success }] = await n8n.run(await n8n.publish("set-webhook", [evolution("events-api", "webhook", set)]));
  equal(success, true);
  const [found] = await n8n.run(await n8n.publish("find-webhook", [evolution("events-api", "webhook", { resourceForWebhook: "findWebhook" })]));
  deepEqual([found.data.url, found.data.enabled, found.data.events], [url, true, ["MESSAGES_UPSERT"]]);
});

let sent, answer;
await step("send a text", async () => {
  sent = await does("messages-api", "send-text", { remoteJid: friend.phone, messageText: text });
  const stored = await demo.written(text);
  deepEqual([sent.key.id, stored.chatJid], [stored.msgId, friend.jid]);
});
await step("the answer to it runs the workflow with the webhook, which replies", async () => {
  answer = await demo.answered(text);
  equal(answer.content, answered);
  const reply = await demo.written(`messages.upsert bridged ${friend.name} conversation ${demo.account}@s.whatsapp.net`);
  deepEqual([reply.chatJid, reply.contextInfo.quotedMsgId], [friend.jid, answer.msgId]);
  await demo.answered(reply.content);
});
await step("mark as read", async () => {
  notEqual(await demo.unread(friend.jid), 0);
  const { msgId } = await demo.that((m) => !m.fromMe && m.content.includes("«messages.upsert"));
  await does("chat-api", "read-messages", { remoteJid: friend.jid, messageId: msgId, fromMe: false });
  equal(await demo.unread(friend.jid), 0);
});
await step("send a reaction", async () => {
  await does("messages-api", "send-reaction", { remoteJid: friend.jid, messageId: answer.msgId, fromMe: false, reaction: "❤️" });
  await demo.message(answer.msgId, (m) => m.reactions.some(({ emoji }) => emoji === "❤️"));
});
await step("send a picture in base64", async () => {
  const caption = "en base64";
  await does("messages-api", "send-image", { remoteJid: friend.phone, media: demo.picture.toString("base64"), caption });
  deepEqual(await demo.file(await demo.written(caption)), demo.picture);
});
await step("send a picture by its address, and get it in base64", async () => {
  const site = await listen(async (_, response) => response.writeHead(200, { "Content-Type": "image/jpeg" }).end(demo.picture));
  const caption = "por su dirección";
  const flow = await n8n.publish("send-image-address", [evolution("messages-api", "send-image", { remoteJid: friend.jid, media: `${site.url}picture.jpg`, caption })]);
  await n8n.run(flow);
  site.close();
  const { msgId } = await demo.written(caption);
  const file = await does("chat-api", "get-media-base64", { messageId: msgId, convertToMp4: false });
  deepEqual([file.mimetype, Buffer.from(file.base64, "base64")], ["image/jpeg", demo.picture]);
});
await step("send a voice note", async () => {
  const voice = await demo.file(await demo.that((m) => m.media?.ptt));
  const { key } = await does("messages-api", "send-audio", { remoteJid: friend.phone, media: voice.toString("base64") });
  const stored = await demo.message(key.id);
  deepEqual([stored.media.ptt, await demo.file(stored)], [true, voice]);
});
await step("send a contact", async () => {
  const { key } = await does("messages-api", "send-contact", {
    remoteJid: friend.phone, contacts: { contactValues: [{ fullName: "Jonas Weber", wuid: "4915100100102", phoneNumber: "+49 1510 0100102" }] },
  });
  equal((await demo.message(key.id)).contacts[0].displayName, "Jonas Weber");
});
await step("send a poll", async () => {
  const { key } = await does("messages-api", "send-poll", { remoteJid: friend.phone, caption: "¿Cuándo?", options_display: { metadataValues: [{ optionValue: "hoy" }, { optionValue: "mañana" }] } });
  deepEqual((await demo.message(key.id)).poll.options.map(({ name }) => name), ["hoy", "mañana"]);
});
await step("find messages", async () => {
  const { messages } = await does("chat-api", "find-messages", { remoteJid: friend.phone, page: 1, offset: 50 });
  const found = messages.records.find((record) => record.key.id === answer.msgId);
  deepEqual([found.message.conversation, found.key.fromMe, found.pushName], [answered, false, friend.name]);
});
await step("find chats", async () => {
  const chats = await does("chat-api", "find-chats", { remoteJid: friend.phone, messageId: answer.msgId, page: 1, offset: 10 });
  deepEqual(chats.map((chat) => chat.remoteJid), [friend.jid]);
});
await step("find contacts", async () => {
  const contacts = await does("chat-api", "find-contacts", { listAll: true });
  ok(contacts.some((contact) => contact.remoteJid === friend.jid), JSON.stringify(contacts));
});
await step("check a number", async () => {
  const [known] = await does("chat-api", "check-number", { numbers: friend.phone });
  deepEqual([known.exists, known.jid], [true, friend.jid]);
});
await step("change a message, and delete it", async () => {
  await does("chat-api", "update-message", { remoteJid: friend.jid, messageId: sent.key.id, text: "¿Tienes té?" });
  await demo.message(sent.key.id, (m) => m.content === "¿Tienes té?");
  await does("chat-api", "delete-message", { remoteJid: friend.jid, messageId: sent.key.id, fromMe: true });
  await demo.message(sent.key.id, (m) => m.deletedAt);
});
await step("switch the webhook off, without its address", async () => {
  const off = { resourceForWebhook: "setWebhook", enabled: false, webhookUrl: "", webhookByEvents: false, webhookBase64: false, webhookEvents: [] };
  const [{ success }] = await n8n.run(await n8n.publish("webhook-off", [evolution("events-api", "webhook", off)]));
  const { webhooks } = await demo.call("GET", "/api/webhooks");
  deepEqual([success, webhooks.map(({ enabled }) => enabled)], [true, [false]]);
});
await step("what fails is shown with the API's sentence", async () => {
  const flow = await n8n.publish("send-to-stranger", [evolution("messages-api", "send-text", { remoteJid: "15550109999", messageText: "x" })]);
  const shown = await n8n.fails(flow);
  match(shown, /Erro ao enviar mensagem de texto/);
  match(shown, /400 - .*exists[\\":]+false/);
});
await step("deleting the instance, a click away, is refused", async () => {
  const flow = await n8n.publish("delete-instance", [evolution("instances-api", "delete-instance", {})]);
  match(await n8n.fails(flow), /400 - .*bridged does not do this, and nothing was changed/);
  equal((await demo.call("GET", "/api/auth/status")).status, "open");
});

// waha describes an HTTP node that sends a text through the API of WAHA.
const header = await n8n.credential("httpHeaderAuth", { name: "X-Api-Key", value: key });
const waha = (body) => ({
  name: "HTTP Request", type: "n8n-nodes-base.httpRequest", typeVersion: 4.2, credentials: header,
  parameters: {
    method: "POST", url: `${demo.address}/waha/api/sendText`, authentication: "genericCredentialType", genericAuthType: "httpHeaderAuth",
    sendBody: true, bodyParameters: { parameters: Object.entries(body).map(([name, value]) => ({ name, value })) },
  },
});
const byWAHA = "por WAHA";
await check("the HTTP node, WAHA", "send a text", async () => {
  const flow = await n8n.publish("waha", [waha({ session: "default", chatId: `${friend.phone}@c.us`, text: "={{ $json.body.text }}" })]);
  const [{ id }] = await n8n.run(flow, { text: byWAHA });
  equal(id, `true_${friend.phone}@c.us_${(await demo.written(byWAHA)).msgId}`);
});
await check("the HTTP node, WAHA", "a webhook runs a workflow, which replies", async () => {
  const text = "¿Y por WAHA?";
  const { url } = await n8n.publish("waha-answering", answering("body.payload.body", answerTo(text), waha({
    session: "={{ $json.body.session }}", chatId: "={{ $json.body.payload.from }}", reply_to: "={{ $json.body.payload.id }}",
    text: "={{ [$json.body.event, $json.body.payload._data.Info.PushName, $json.body.me.id].join(' ') }}",
  })), false);
  const set = await fetch(`${demo.address}/waha/api/sessions/default`, {
    method: "PUT", headers: { "X-Api-Key": key, "Content-Type": "application/json" }, body: JSON.stringify({ config: { webhooks: [{ url, events: ["message"] }] } }),
  });
  equal(set.status, 200, await set.text());
  await demo.call("POST", "/api/messages/send", { jid: friend.jid, text });
  const reply = await demo.written(`message ${friend.name} ${demo.account}@c.us`);
  equal(reply.contextInfo.quotedMsgId, (await demo.answered(text)).msgId);
});

const failed = print();
await n8n.stop();
await demo.stop();
process.exit(failed ? 1 : 0);
