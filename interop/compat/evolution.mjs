// The adapter of Evolution API with the requests of its clients, which npm's registry does
// not have: evolution-api-sdk, at the root of an address and with a / at the end of each
// path, and Uptime Kuma. What n8n's node sends is sent by that node (.ci/n8n).
import { deepEqual, equal, notEqual, ok } from "node:assert/strict";
import { check } from "./shared/table.mjs";
import { Inbox, listen, textOf } from "./demo.mjs";

export async function evolution(demo, root) {
  const { friend } = demo;
  const apikey = await demo.key("evolution-api-sdk", "read", "send", "manage");
  const step = (what, take) => check("evolution-api-sdk's requests", what, take);
  // ask asks as the SDK does, which takes every answer for JSON.
  const ask = async (method, route, body, wanted = 201) => {
    const answer = await fetch(new URL(`/${route}/bridged/`, root), {
      method, headers: { apikey, "Content-Type": "application/json" }, body: body && JSON.stringify(body),
    });
    const content = await answer.json();
    equal(answer.status, wanted, JSON.stringify(content));
    return content;
  };

  const inbox = new Inbox();
  const receiver = await listen(async (request, response) => {
    inbox.put(JSON.parse(await textOf(request)));
    response.end(JSON.stringify({ received: true }));
  });
  await step("a webhook is set and found", async () => {
    await ask("POST", "webhook/set", { enabled: true, url: receiver.url, webhookByEvents: false, webhookBase64: false, events: ["MESSAGES_UPSERT", "MESSAGES_UPDATE"] });
    const found = await ask("GET", "webhook/find", undefined, 200);
    equal(found.url, receiver.url);
    deepEqual(found.events, ["MESSAGES_UPSERT", "MESSAGES_UPDATE"]);
  });
  const text = "hola desde el SDK";
  let sent;
  await step("a text", async () => {
    sent = await ask("POST", "message/sendText", { number: friend.phone, text, delay: 100, linkPreview: false });
    const { remoteJid, fromMe, id } = sent.key;
    deepEqual([remoteJid, fromMe, id], [friend.jid, true, (await demo.written(text)).msgId]);
    ok(sent.messageTimestamp && sent.status && sent.messageType === "conversation", JSON.stringify(sent));
  });
  let answer;
  await step("the answer to it arrives as messages.upsert", async () => {
    answer = await inbox.that(({ event, data }) => event === "messages.upsert" && data.message.conversation?.includes(`«${text}»`));
    equal(answer.instance, "bridged");
    equal(answer.data.key.remoteJid, friend.jid);
    equal(answer.data.key.fromMe, false);
    equal(answer.data.contextInfo.stanzaId, sent.key.id);
  });
  await step("and that it was read as messages.update", async () => {
    await inbox.that(({ event, data }) => event === "messages.update" && data.keyId === sent.key.id && data.status === "READ");
  });
  await step("a number is looked up", async () => {
    const [known, unknown] = await ask("POST", "chat/whatsappNumbers", { numbers: [friend.phone, "15550109999"] }, 200);
    deepEqual([known.exists, known.jid, unknown.exists], [true, friend.jid, false]);
  });
  await step("typing is shown", () => ask("POST", "chat/sendPresence", { number: friend.phone, presence: "composing", delay: 100 }));
  await step("the answer is read", async () => {
    notEqual(await demo.unread(friend.jid), 0);
    await ask("POST", "chat/markMessageAsRead", { readMessages: [answer.data.key] });
    equal(await demo.unread(friend.jid), 0);
  });
  await step("a picture in base64", async () => {
    const caption = "una imagen del SDK";
    await ask("POST", "message/sendMedia", { number: friend.phone, mediatype: "image", mimetype: "image/jpeg", caption, media: demo.picture.toString("base64"), fileName: "image.jpg" });
    deepEqual(await demo.file(await demo.that((m) => m.content === caption)), demo.picture);
  });
  await step("messages are found", async () => {
    const { messages } = await ask("POST", "chat/findMessages", { where: { key: { remoteJid: friend.jid } }, page: 1, offset: 10 }, 200);
    ok(messages.records.some((record) => record.key.id === sent.key.id), JSON.stringify(messages));
  });
  await step("a number that is not on WhatsApp is refused in its form", async () => {
    const refused = await ask("POST", "message/sendText", { number: "15550109999", text: "x" }, 400);
    equal(refused.response.message[0].exists, false);
  });
  await step("what it received was all in order", async () => receiver.close());
  for (const { id } of (await demo.call("GET", "/api/webhooks")).webhooks) await demo.call("DELETE", `/api/webhooks/${id}`);

  await check("Uptime Kuma's, Evolution", "a notification", async () => {
    const text = "[api] [🔴 Down] connect ECONNREFUSED";
    const answer = await fetch(`${demo.address}/evolution/message/sendText/${encodeURIComponent("bridged")}`, {
      method: "POST", headers: { Accept: "application/json", "Content-Type": "application/json", apikey: await demo.key("Uptime Kuma", "send") },
      body: JSON.stringify({ number: friend.phone, text }),
    });
    equal(answer.status, 201, await answer.text());
    equal((await demo.written(text)).chatJid, friend.jid);
    await demo.answered(text);
  });
}
