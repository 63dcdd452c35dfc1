// In a group: from Baileys to bridged and to another Baileys, and back.
import { deepEqual, equal, ok } from "node:assert/strict";
import { addons } from "./addons.mjs";
import { check } from "./table.mjs";
import { vote } from "./vote.mjs";

const textOf = (content) => content.extendedTextMessage?.text ?? content.conversation;

export async function group({ network, bridge, owner, anna, ben, files }, byNumber) {
  const subject = byNumber ? "group by number" : "group by LID";
  const name = byNumber ? "Hikers" : "Rowers";
  const { jid } = await network.addGroup(anna.phone, name, [ben.phone, owner.phone], byNumber);
  const message = async (from, content, options) => {
    const { key } = await from.send(jid, content, options);
    return bridge.message(key.id);
  };

  for (const from of [anna, ben]) {
    await check(subject, `text from ${from.name} to bridged`, async () => {
      const got = await message(from, { text: `I am ${from.name}` });
      equal(got.content, `I am ${from.name}`);
      equal(got.chatJid, jid);
      equal(got.senderJid, from.pn);
      equal(got.senderLid, from.lid);
    });
  }
  await check(subject, "usernames", async () => {
    await network.username(owner.phone, "olga.o");
    await network.username(anna.phone, "anna.a");
    const id = await bridge.send("send", { jid, text: "do you know my name?" });
    for (const member of [anna, ben]) equal((await member.message(id)).key.participantUsername, "olga.o");
    equal((await message(anna, { text: "and mine?" })).senderUsername, "anna.a");
    const { participants } = await ben.sock.groupMetadata(jid);
    for (const [who, username] of [[owner, "olga.o"], [anna, "anna.a"]]) {
      equal(participants.find((p) => [who.pn, who.lid].includes(p.id))?.username, username);
    }
  });
  await check(subject, "text from bridged to everyone", async () => {
    const id = await bridge.send("send", { jid, text: "I am the owner" });
    for (const member of [anna, ben]) equal(textOf(await member.content(id)), "I am the owner");
    await bridge.message(id, (m) => m.status === "delivered");
  });
  await check(subject, "texts both ways, one after the other", async () => {
    for (let i = 0; i < 10; i++) {
      equal((await message(anna, { text: `Anna ${i}` })).content, `Anna ${i}`);
      const id = await bridge.send("send", { jid, text: `owner ${i}` });
      for (const member of [anna, ben]) equal(textOf(await member.content(id)), `owner ${i}`);
    }
  });
  await check(subject, "undecryptable messages are resent, both ways", async () => {
    const asked = await network.damaged(owner.phone, async () => {
      const { key } = await anna.send(jid, { text: "Anna again" });
      equal((await bridge.message(key.id, (m) => m.messageType !== "undecryptable")).content, "Anna again");
      ok(textOf(await ben.content(key.id)) === "Anna again");
    });
    ok(asked > 0, "bridged asked for nothing");
    const askedBack = await network.damaged(anna.phone, async () => {
      const id = await bridge.send("send", { jid, text: "the owner again" });
      for (const member of [anna, ben]) equal(textOf(await member.content(id)), "the owner again");
    });
    ok(askedBack > 0, "Baileys asked for nothing");
  });
  await addons(subject, { bridge, author: anna, member: ben, to: jid, files });
  await check(subject, "reply and mention to bridged", async () => {
    const id = await bridge.send("send", { jid, text: "who rows?" });
    const got = await message(ben, { text: `@${anna.phone} does`, mentions: [byNumber ? anna.pn : anna.lid] }, { quoted: await ben.message(id) });
    equal(got.contextInfo.quotedMsgId, id);
    equal(got.contextInfo.quotedSenderJid, owner.pn);
    deepEqual(got.contextInfo.mentionedJid, [anna.pn]);
  });
  await check(subject, "mention of everyone", async () => {
    const got = await message(ben, { text: "@all hurry up", mentionAll: true });
    equal(got.contextInfo.mentionsAll, true);
  });
  await check(subject, "reply and mention from bridged", async () => {
    const { msgId } = await message(anna, { text: "who pays?" });
    const id = await bridge.send("send", { jid, text: `@${ben.phone} does`, mentions: [ben.pn], quotedMsgId: msgId });
    const { contextInfo } = (await ben.content(id)).extendedTextMessage;
    equal(contextInfo.stanzaId, msgId);
    equal(contextInfo.participant, byNumber ? anna.pn : anna.lid);
    deepEqual(contextInfo.mentionedJid, [byNumber ? ben.pn : ben.lid]);
  });
  await check(subject, "reactions to bridged: two people, one taken back", async () => {
    const id = await bridge.send("send", { jid, text: "applause" });
    for (const [from, text] of [[anna, "👏"], [ben, "🎉"]]) await from.send(jid, { react: { text, key: (await from.message(id)).key } });
    const { reactions } = await bridge.message(id, (m) => m.reactions.length === 2);
    deepEqual(reactions.map((r) => r.senderJid).sort(), [anna.pn, ben.pn]);
    await ben.send(jid, { react: { text: "", key: (await ben.message(id)).key } });
    await bridge.message(id, (m) => m.reactions.length === 1);
  });
  await check(subject, "reaction to another member's message, and from bridged", async () => {
    const { msgId } = await message(anna, { text: "nice weather" });
    await ben.send(jid, { react: { text: "☀️", key: (await ben.message(msgId)).key } });
    await bridge.message(msgId, (m) => m.reactions.some((r) => r.senderJid === ben.pn && r.emoji === "☀️"));
    await bridge.send("react", { chatJid: jid, msgId, emoji: "🌧️" });
    for (const member of [anna, ben]) await member.reaction(msgId, "🌧️");
  });
  await check(subject, "edit", async () => {
    const { key } = await ben.send(jid, { text: "at none" });
    await bridge.message(key.id);
    await ben.send(jid, { text: "at nine", edit: key });
    equal((await bridge.message(key.id, (m) => m.editedAt)).content, "at nine");
  });
  await check(subject, "delete by the sender", async () => {
    const { key } = await ben.send(jid, { text: "never mind" });
    await bridge.message(key.id);
    await ben.send(jid, { delete: key });
    equal((await bridge.message(key.id, (m) => m.deletedAt)).content, "");
  });
  await check(subject, "delete by an admin", async () => {
    const { msgId } = await message(ben, { text: "an insult" });
    await anna.send(jid, { delete: (await anna.message(msgId)).key });
    equal((await bridge.message(msgId, (m) => m.deletedAt)).content, "");
  });
  await check(subject, "delete by a member without the right is ignored", async () => {
    const { msgId } = await message(anna, { text: "this stays" });
    await ben.send(jid, { delete: (await ben.message(msgId)).key });
    await message(ben, { text: "it does stay" });
    equal(bridge.seen(msgId).content, "this stays");
  });
  await check(subject, "image to bridged", async () => {
    const got = await message(ben, { image: files["picture.jpg"], caption: "the boat" });
    equal(got.media.caption, "the boat");
    deepEqual(await bridge.file(got), files["picture.jpg"]);
  });
  await check(subject, "voice from bridged", async () => {
    const id = await bridge.send("send-media", { jid, url: network.fileURL("voice.ogg"), type: "audio", ptt: true });
    for (const member of [anna, ben]) deepEqual(await member.file(await member.message(id)), files["voice.ogg"]);
  });
  const form = { voter: byNumber ? "number" : "LID", creator: byNumber ? "number" : "LID" };
  await check(subject, "poll from bridged, votes of two", async () => {
    const id = await bridge.send("send-poll", { jid, name: "Where?", values: ["Hill", "Lake"], selectableCount: 2 });
    await vote(anna, owner, jid, await anna.message(id), ["Lake"], form);
    await vote(ben, owner, jid, await ben.message(id), ["Hill", "Lake"], form);
    const { poll } = await bridge.message(id, (m) => m.poll.options[1].votes === 2);
    deepEqual(poll.options[0].voters, [ben.pn]);
  });
  await check(subject, "poll from Baileys, vote of another member", async () => {
    const { msgId } = await message(anna, { poll: { name: "Who cooks?", values: ["Anna", "Ben"], selectableCount: 1 } });
    await vote(ben, anna, jid, await ben.message(msgId), ["Anna"], form);
    const { poll } = await bridge.message(msgId, (m) => m.poll.options.some((o) => o.votes));
    deepEqual(poll.options.map((o) => o.voters), [[ben.pn], []]);
  });
  await check(subject, "read by everyone", async () => {
    const id = await bridge.send("send", { jid, text: "please read" });
    for (const member of [anna, ben]) await member.sock.readMessages([(await member.message(id)).key]);
    await bridge.message(id, (m) => m.status === "read");
  });
  await check(subject, "poll from bridged, vote of its own account on another device", async () => {
    const id = await bridge.send("send-poll", { jid, name: "Coming?", values: ["Yes", "No"], selectableCount: 1 });
    await vote(owner, owner, jid, await owner.message(id), ["Yes"], form);
    const { poll } = await bridge.message(id, (m) => m.poll.options[0].votes === 1);
    deepEqual(poll.options[0].voters, [owner.pn]);
  });
  await check(subject, "made by Baileys, who makes bridged an admin and removes it", async () => {
    const made = await anna.sock.groupCreate(`${name} of the south`, [owner.pn, ben.pn]);
    const { key } = await anna.send(made.id, { text: "a new group" });
    equal((await bridge.message(key.id)).chatJid, made.id);
    const stored = async () => (await bridge.call("GET", `/api/groups/${encodeURIComponent(made.id)}`)).stored;
    await bridge.group(made.id, (g) => g.name === `${name} of the south` && g.participants.length === 3);
    await anna.sock.groupParticipantsUpdate(made.id, [owner.lid], "promote");
    await bridge.group(made.id, (g) => g.participants.some((p) => p.jid === owner.pn && p.isAdmin));
    await anna.sock.groupParticipantsUpdate(made.id, [owner.lid], "remove");
    await bridge.group(made.id, (g) => g.participants.every((p) => p.jid !== owner.pn));
    equal((await stored()).participants.length, 2);
  });
  await check(subject, "name changed by Baileys", async () => {
    await anna.sock.groupUpdateSubject(jid, `${name} of the north`);
    await message(anna, { text: "a new name" });
    const { stored } = await bridge.call("GET", `/api/groups/${encodeURIComponent(jid)}`);
    equal(stored.name, `${name} of the north`);
  });
  await check(subject, "disappearing messages switched on: bridged's disappear too", async () => {
    await anna.sock.groupToggleEphemeral(jid, 604_800);
    await message(anna, { text: "from now on" });
    const id = await bridge.send("send", { jid, text: "for a week" });
    equal((await ben.content(id)).extendedTextMessage.contextInfo.expiration, 604_800);
  });
  await check(subject, "a member who has left gets no messages", async () => {
    await anna.sock.groupParticipantsUpdate(jid, [byNumber ? ben.pn : ben.lid], "remove");
    await message(anna, { text: "Ben has left" });
    const id = await bridge.send("send", { jid, text: "what Ben must not read" });
    await anna.content(id);
    // A direct message to Ben comes after everything sent before.
    await ben.content(await bridge.send("send", { jid: ben.pn, text: "goodbye" }));
    ok(!ben.messages.has(id));
  });
}
