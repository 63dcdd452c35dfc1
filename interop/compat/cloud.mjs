// What a client of Meta's Cloud API does, through the Cloud API.
import { deepEqual, equal, match, notEqual, ok, rejects } from "node:assert/strict";
import { check } from "./shared/table.mjs";
import { Inbox } from "./demo.mjs";

// cloud opens a client and checks what it sends, downloads and receives. A client returns
// the ids of what it sent, throws what the API refuses, and puts what it received into
// the inbox: {message} and {status} in Meta's form.
export async function cloud(demo, name, open) {
  const step = (what, take) => check(name, what, take);
  const { friend } = demo;
  const inbox = new Inbox();
  const setting = {
    url: `${demo.address}/cloud`, account: demo.account, token: await demo.key(name, ...(open.scopes ?? ["read", "send"])),
    secret: "the app secret", verifyToken: "the verify token", inbox,
  };
  let client;
  if (!(await step("a webhook is verified by its handler", async () => {
    client = await open(setting);
    await (client.subscribe?.() ?? subscribe(demo, setting, client));
  }))) return;

  const text = `¿Qué tal? ${name} 👋`;
  let sent, answer;
  await step("a text", async () => {
    sent = await client.text(friend.phone, text);
    match(sent, /^wamid\./);
    equal((await demo.written(text)).chatJid, friend.jid);
  });
  await step("the answer to it arrives, and its signature holds", async () => {
    const { message } = await inbox.that((item) => item.message?.text?.body.includes(`«${text}»`));
    answer = message;
    equal(message.from, friend.phone);
    equal(message.context.id, sent);
    const age = Date.now() / 1000 - Number(message.timestamp);
    ok(age >= -1 && age < 60, `the timestamp is ${age} s old`);
  });
  if (client.statuses) await step("so does its status", async () => {
    const { status } = await inbox.that((item) => item.status?.id === sent && item.status.status === "read");
    equal(status.recipient_id, friend.phone);
  });
  await step("a post with another signature is refused", async () => {
    const refused = await fetch(client.receiver.url, {
      method: "POST", body: "{}", headers: { "Content-Type": "application/json", "X-Hub-Signature-256": "sha256=" + "0".repeat(64) },
    });
    equal(refused.status, 401);
  });
  await step("the answer is read", async () => {
    notEqual(await demo.unread(friend.jid), 0);
    await client.read(answer.id);
    equal(await demo.unread(friend.jid), 0);
  });
  await step("a reply", async () => {
    const reply = `a reply of ${name}`;
    await client.reply(friend.phone, answer.id, reply);
    const stored = await demo.written(reply);
    equal(stored.contextInfo.quotedMsgId, (await demo.answered(text)).msgId);
    await demo.answered(reply);
  });
  await step("a reaction, and its removal", async () => {
    const { msgId } = await demo.answered(text);
    const own = (m) => m.reactions.filter((reaction) => reaction.senderJid.startsWith(demo.account)).map((reaction) => reaction.emoji);
    await client.react(friend.phone, answer.id, "👍");
    await demo.message(msgId, (m) => own(m)[0] === "👍");
    await client.react(friend.phone, answer.id, "");
    await demo.message(msgId, (m) => own(m).length === 0);
  });

  await step("choices become a text", async () => {
    const question = `¿Cuál? ${name}`;
    await client.choices(friend.phone, question, { a: "Red", b: "Blue" });
    await demo.written(`${question}\n\n1. Red\n2. Blue`);
  });
  if (client.contact) await step("a contact", async () => {
    const person = `Ada ${name}`;
    await client.contact(friend.phone, person, "15551234567");
    const { contacts: [stored] } = await demo.that((m) => m.fromMe && m.contacts?.[0].displayName === person);
    deepEqual(stored.phones.map(({ number }) => number), ["+15551234567"]);
  });

  let picture;
  const caption = `una imagen de ${name}`;
  await step("a picture is uploaded, and sent by its id", async () => {
    picture = await client.upload(demo.picture, "image/jpeg", "picture.jpg");
    await client.picture(friend.phone, picture, caption);
    const stored = await demo.that((m) => m.content === caption && m.media?.type === "image");
    deepEqual(await demo.file(stored), demo.picture);
  });
  if (client.refusesDownloads) await step("it downloads from public addresses only, and refuses this one", async () => {
    await rejects(client.download(picture), client.refusesDownloads);
  });
  else await step("the picture is downloaded", async () => {
    deepEqual(Buffer.from(await client.download(picture)), demo.picture);
  });
  if (client.echoes) await step("it arrives as an echo, whose file is downloaded", async () => {
    const { message } = await inbox.that((item) => item.message?.image?.caption === caption);
    equal(message.to, friend.phone);
    deepEqual(Buffer.from(await client.download(message.image.id)), demo.picture);
  });
  await step("a template is refused as one that does not exist", async () => equal(await client.template(friend.phone), 132001));
  await step("what its handler received was all in order", async () => client.receiver.close());
  for (const { id } of (await demo.call("GET", "/api/webhooks")).webhooks) await demo.call("DELETE", `/api/webhooks/${id}`);
}

// subscribe makes a webhook by bridged's own route.
async function subscribe(demo, { secret, verifyToken }, { receiver, echoes = false }) {
  await demo.call("POST", "/api/webhooks", { url: receiver.url, format: "cloud", secret, formatOptions: { verifyToken, ownMessages: echoes }, allowPrivate: true });
}
