// The adapter of WAHA with the requests of its clients, which are in no registry: n8n's HTTP
// node with what the WAHA node fills in, and Uptime Kuma.
import { createHmac } from "node:crypto";
import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { check } from "./shared/table.mjs";
import { Inbox, listen, textOf } from "./demo.mjs";

export async function waha(demo) {
  const { friend } = demo;
  const chatId = `${friend.phone}@c.us`;
  const key = await demo.key("n8n", "read", "send", "manage");
  const step = (what, take) => check("n8n's requests, WAHA", what, take);
  const ask = async (method, route, body, wanted) => {
    const answer = await fetch(`${demo.address}/waha${route}`, {
      method, body: body && JSON.stringify(body),
      headers: { "X-Api-Key": key, "Content-Type": "application/json", Accept: "application/json,text/html,application/xhtml+xml,application/xml,text/*;q=0.9, image/*;q=0.8, */*;q=0.7" },
    });
    const content = await answer.json();
    equal(answer.status, wanted, JSON.stringify(content));
    return content;
  };

  const inbox = new Inbox();
  const hmac = "the hmac key";
  const receiver = await listen(async (request, response) => {
    const body = await textOf(request);
    const signature = createHmac("sha512", hmac).update(body).digest("hex");
    const isSigned = request.headers["x-webhook-hmac"] === signature && request.headers["x-webhook-hmac-algorithm"] === "sha512";
    if (isSigned) inbox.put(JSON.parse(body));
    response.writeHead(isSigned ? 200 : 401).end();
  });
  await step("the credential's test, the sessions", async () => {
    const [session] = await ask("GET", "/api/sessions?all=false", undefined, 200);
    deepEqual([session.name, session.status, session.me.id], ["default", "WORKING", `${demo.account}@c.us`]);
  });
  await step("a webhook with a key is set", async () => {
    const session = await ask("PUT", "/api/sessions/default", { config: { webhooks: [{ url: receiver.url, events: ["message", "message.ack"], hmac: { key: hmac } }] } }, 200);
    equal(session.config.webhooks[0].url, receiver.url);
  });
  const text = "¿Llegó? 👋";
  let sent, answer;
  await step("a text", async () => {
    sent = await ask("POST", "/api/sendText", { session: "default", chatId, text, reply_to: "", linkPreview: true, linkPreviewHighQuality: false }, 201);
    equal(sent.id, `true_${chatId}_${(await demo.written(text)).msgId}`);
  });
  await step("the answer to it arrives, and its HMAC holds", async () => {
    const post = await inbox.that(({ event, payload }) => event === "message" && payload.body.includes(`«${text}»`));
    answer = post.payload;
    deepEqual([post.session, answer.from, answer.fromMe, answer._data.Info.PushName], ["default", chatId, false, friend.name]);
    match(sent.id, new RegExp(`_${answer.replyTo.id}$`));
  });
  await step("and that it was read", () => inbox.that(({ event, payload }) => event === "message.ack" && payload.id === sent.id && payload.ackName === "READ"));
  await step("a reply, with what its trigger handed on", async () => {
    const reply = "a reply of n8n";
    await ask("POST", "/api/sendText", { session: "default", chatId: answer.from, text: reply, reply_to: answer.id }, 201);
    equal((await demo.written(reply)).contextInfo.quotedMsgId, (await demo.answered(text)).msgId);
  });
  await step("a reaction", async () => {
    await ask("PUT", "/api/reaction", { session: "default", messageId: answer.id, reaction: "🙏" }, 200);
    await demo.message((await demo.answered(text)).msgId, (m) => m.reactions.some(({ emoji }) => emoji === "🙏"));
  });
  await step("the chat is read, with the node's participant", async () => {
    await demo.answered("a reply of n8n");
    notEqual(await demo.unread(friend.jid), 0);
    await ask("POST", "/api/sendSeen", { session: "default", chatId, participant: "11111111111@c.us" }, 201);
    equal(await demo.unread(friend.jid), 0);
  });
  await step("a picture, with the node's type", async () => {
    const caption = "una imagen de n8n";
    await ask("POST", "/api/sendImage", { session: "default", chatId, caption, reply_to: "", file: { mimetype: "image/jpeg", filename: "filename.jpg", data: demo.picture.toString("base64") } }, 201);
    deepEqual(await demo.file(await demo.that((m) => m.content === caption)), demo.picture);
  });
  await step("messages, with the node's limit of 0", async () => {
    const messages = await ask("GET", `/api/messages?session=default&chatId=${chatId}&limit=0&downloadMedia=true`, undefined, 200);
    equal(messages.filter(({ id }) => id === sent.id).length, 1);
  });
  await step("a number is looked up", async () => {
    deepEqual(await ask("GET", `/api/contacts/check-exists?session=default&phone=${friend.phone}`, undefined, 200), { numberExists: true, chatId });
  });
  await step("stopping the session is refused", () => ask("POST", "/api/sessions/default/stop", {}, 501));
  await step("what it received was all in order", async () => receiver.close());

  await check("Uptime Kuma's, WAHA", "a notification", async () => {
    const text = "[web] [✅ Up] 200 - OK";
    const answer = await fetch(`${demo.address}/waha/api/sendText`, {
      method: "POST", headers: { Accept: "application/json", "Content-Type": "application/json", "X-Api-Key": await demo.key("Uptime Kuma at WAHA", "send") },
      body: JSON.stringify({ session: "default", chatId, text }),
    });
    equal(answer.status, 201, await answer.text());
    equal((await demo.written(text)).chatJid, friend.jid);
    await demo.answered(text);
  });
}
