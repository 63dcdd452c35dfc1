// From Baileys to bridged, in direct chats.
import { deepEqual, equal, ok } from "node:assert/strict";
import { addons } from "./addons.mjs";
import { business } from "./business.mjs";
import { check } from "./table.mjs";
import { vote, voteForms, votePlaces } from "./vote.mjs";

export async function received({ bridge, owner, anna, ben, files }) {
  const subject = "Baileys to bridged";
  const to = owner.pn;
  const message = async (content, options) => {
    const { key } = await anna.send(to, content, options);
    return bridge.message(key.id);
  };

  for (const form of ["pn", "lid"]) {
    await check(subject, `text to the ${form === "pn" ? "number" : "LID"}`, async () => {
      const { key } = await anna.send(owner[form], { text: `hello, ${form}` });
      const got = await bridge.message(key.id);
      equal(got.content, `hello, ${form}`);
      equal(got.chatJid, anna.pn);
      equal(got.senderJid, anna.pn);
      equal(got.senderLid, anna.lid);
      equal(got.pushName, "Anna");
      equal(got.fromMe, false);
    });
  }
  await check(subject, "long text in many scripts", async () => {
    const text = "Straße · улица · 通り · شارع · 🛣️ ".repeat(1500);
    equal((await message({ text })).content, text);
  });
  await check(subject, "reply", async () => {
    const id = await bridge.send("send", { jid: anna.pn, text: "a question" });
    const got = await message({ text: "an answer" }, { quoted: await anna.message(id) });
    equal(got.content, "an answer");
    equal(got.contextInfo.quotedMsgId, id);
    equal(got.contextInfo.quotedSenderJid, owner.pn);
  });
  await check(subject, "mention", async () => {
    const got = await message({ text: `ask @${ben.phone}`, mentions: [ben.pn] });
    deepEqual(got.contextInfo.mentionedJid, [ben.pn]);
  });
  await check(subject, "forwarded", async () => {
    const first = await anna.send(to, { text: "to be passed on" });
    const got = await message({ forward: first, force: true });
    equal(got.content, "to be passed on");
    equal(got.isForwarded, true);
  });

  await check(subject, "reaction: set, changed, removed", async () => {
    const id = await bridge.send("send", { jid: anna.pn, text: "react to this" });
    const { key } = await anna.message(id);
    for (const emoji of ["👍", "❤️", ""]) {
      await anna.send(to, { react: { text: emoji, key } });
      const { reactions } = await bridge.message(id, (m) => (m.reactions[0]?.emoji ?? "") === emoji && (emoji || m.reactions.length === 0));
      if (emoji) equal(reactions[0].senderJid, anna.pn);
    }
  });
  await check(subject, "edit", async () => {
    const { key } = await anna.send(to, { text: "frist" });
    await bridge.message(key.id);
    await anna.send(to, { text: "first", edit: key });
    equal((await bridge.message(key.id, (m) => m.editedAt)).content, "first");
  });
  await check(subject, "edit of a caption", async () => {
    const { key } = await anna.send(to, { image: files["picture.jpg"], caption: "a moutain" });
    await bridge.message(key.id);
    await anna.relay(to, { editedMessage: { message: { protocolMessage: { key, type: 14, timestampMs: Date.now(), editedMessage: { imageMessage: { caption: "a mountain" } } } } } });
    const got = await bridge.message(key.id, (m) => m.editedAt);
    equal(got.content, "a mountain");
    deepEqual(await bridge.file(got), files["picture.jpg"]);
  });
  await check(subject, "delete for everyone", async () => {
    const { key } = await anna.send(to, { text: "not for long" });
    await bridge.message(key.id);
    await anna.send(to, { delete: key });
    equal((await bridge.message(key.id, (m) => m.deletedAt)).content, "");
  });

  const media = {
    image: [{ image: files["picture.jpg"], caption: "look", width: 160, height: 100 }, "picture.jpg", { caption: "look", width: 160, height: 100, mimetype: "image/jpeg" }],
    video: [{ video: files["clip.mp4"], caption: "watch" }, "clip.mp4", { caption: "watch", mimetype: "video/mp4" }],
    "round video": [{ video: files["clip.mp4"], ptv: true }, "clip.mp4", { mimetype: "video/mp4" }, "video"],
    GIF: [{ video: files["clip.mp4"], gifPlayback: true }, "clip.mp4", { mimetype: "video/mp4", gif: true }, "video"],
    audio: [{ audio: files["voice.ogg"], mimetype: "audio/ogg; codecs=opus", seconds: 3 }, "voice.ogg", { ptt: false, durationSec: 3 }],
    voice: [{ audio: files["voice.ogg"], mimetype: "audio/ogg; codecs=opus", seconds: 3, ptt: true }, "voice.ogg", { ptt: true, durationSec: 3 }, "audio"],
    document: [{ document: files["page.pdf"], mimetype: "application/pdf", fileName: "a page.pdf" }, "page.pdf", { fileName: "a page.pdf", mimetype: "application/pdf" }],
    "document with a caption": [{ document: files["page.pdf"], mimetype: "application/pdf", fileName: "b.pdf", caption: "read" }, "page.pdf", { caption: "read" }, "document"],
    sticker: [{ sticker: files["sticker.webp"] }, "sticker.webp", { mimetype: "image/webp" }],
  };
  for (const [kind, [content, file, wanted, type = kind]] of Object.entries(media)) {
    await check(subject, kind, async () => {
      const got = await message(content);
      equal(got.media.type, type);
      equal(got.media.size, files[file].length);
      for (const [field, value] of Object.entries(wanted)) equal(got.media[field], value, field);
      deepEqual(await bridge.file(got), files[file]);
    });
  }
  const viewOnce = {
    image: [{ image: files["picture.jpg"], caption: "once" }, "picture.jpg"],
    video: [{ video: files["clip.mp4"] }, "clip.mp4"],
    audio: [{ audio: files["voice.ogg"], mimetype: "audio/ogg; codecs=opus", seconds: 3, ptt: true }, "voice.ogg"],
  };
  for (const [type, [content, file]] of Object.entries(viewOnce)) {
    await check(subject, `view-once ${type}`, async () => {
      const got = await message({ ...content, viewOnce: true });
      equal(got.viewOnce, true);
      equal(got.media.type, type);
      deepEqual(await bridge.file(got), files[file]);
    });
  }

  await check(subject, "location", async () => {
    const got = await message({ location: { degreesLatitude: 52.5163, degreesLongitude: 13.3777, name: "Gate", address: "Square 1" } });
    equal(got.messageType, "locationMessage");
    ok(got.content.includes("Gate"), got.content);
    deepEqual({ ...got.location, url: "" }, { latitude: 52.5163, longitude: 13.3777, name: "Gate", address: "Square 1", url: "", isLive: false });
  });
  await check(subject, "live location", async () => {
    const id = await anna.relay(to, { liveLocationMessage: { degreesLatitude: 52.5, degreesLongitude: 13.4, caption: "on my way", sequenceNumber: 1 } });
    const got = await bridge.message(id);
    equal(got.messageType, "liveLocationMessage");
    equal(got.location.isLive, true);
  });
  const card = (name, phone) => ({ displayName: name, vcard: `BEGIN:VCARD\nVERSION:3.0\nFN:${name}\nTEL;type=CELL;waid=${phone}:+${phone}\nEND:VCARD` });
  await check(subject, "contact", async () => {
    const got = await message({ contacts: { displayName: "Ben", contacts: [card("Ben", ben.phone)] } });
    equal(got.messageType, "contactMessage");
    ok(got.content.includes("Ben"), got.content);
    equal(got.contacts[0].phones[0].jid, ben.pn);
  });
  await check(subject, "contacts", async () => {
    const got = await message({ contacts: { displayName: "2 contacts", contacts: [card("Ben", ben.phone), card("Carla", "4915100000009")] } });
    equal(got.messageType, "contactsArrayMessage");
    ok(got.content.includes("Carla"), got.content);
  });
  await check(subject, "event", async () => {
    const got = await message({ event: { name: "Picnic", description: "by the lake", startDate: new Date(Date.now() + 86_400_000) } });
    equal(got.messageType, "eventMessage");
    equal(got.event.name, "Picnic");
    equal(got.event.description, "by the lake");
  });
  await check(subject, "group invitation", async () => {
    // Baileys itself sends one only for a group with a picture.
    const id = await anna.relay(to, { groupInviteMessage: { groupJid: "1203630000000001@g.us", inviteCode: "abc", inviteExpiration: 1900000000, groupName: "Hikers", caption: "join us" } });
    const got = await bridge.message(id);
    equal(got.messageType, "groupInviteMessage");
    equal(got.groupInvite.name, "Hikers");
    equal(got.groupInvite.jid, "1203630000000001@g.us");
  });

  await check(subject, "poll", async () => {
    const got = await message({ poll: { name: "When?", values: ["Saturday", "Sunday"], selectableCount: 1 } });
    equal(got.poll.name, "When?");
    deepEqual(got.poll.options.map((o) => o.name), ["Saturday", "Sunday"]);
    equal(got.poll.selectableCount, 1);
  });
  for (const form of voteForms) {
    await check(subject, `vote, voter by ${form.voter}, creator by ${form.creator}, sent to and naming either`, async () => {
      for (const { chat, named } of votePlaces(owner)) {
        const id = await bridge.send("send-poll", { jid: anna.pn, name: "Where?", values: ["Hill", "Lake"], selectableCount: 1 });
        await vote(anna, owner, chat, await anna.message(id), ["Lake"], form, named);
        const { poll } = await bridge.message(id, (m) => m.poll.options.some((o) => o.votes));
        deepEqual(poll.options.map((o) => o.voters), [[], [anna.pn]]);
      }
    });
  }
  await check(subject, "vote withdrawn", async () => {
    const id = await bridge.send("send-poll", { jid: anna.pn, name: "Who?", values: ["You", "I"], selectableCount: 1 });
    const poll = await anna.message(id);
    await vote(anna, owner, to, poll, ["You"], voteForms[0]);
    await bridge.message(id, (m) => m.poll.options[0].votes === 1);
    await vote(anna, owner, to, poll, [], voteForms[0]);
    await bridge.message(id, (m) => m.poll.options.every((o) => o.votes === 0));
  });

  await check(subject, "disappearing message", async () => {
    const got = await message({ text: "gone tomorrow" }, { ephemeralExpiration: 86_400 });
    equal(got.content, "gone tomorrow");
    ok(got.expiresAt, "no time at which it disappears");
  });
  await check(subject, "disappearing messages switched on and off, as the chat shows", async () => {
    for (const seconds of [604_800, 0]) {
      await anna.send(to, { disappearingMessagesInChat: seconds || false });
      await bridge.chat(anna.pn, (c) => c.disappearingSeconds === seconds);
    }
  });
  await check(subject, "disappearing messages switched on: the answer disappears too", async () => {
    await anna.send(to, { disappearingMessagesInChat: 86_400 });
    await message({ text: "from now on" });
    const id = await bridge.send("send", { jid: anna.pn, text: "as you wish" });
    equal((await anna.content(id)).extendedTextMessage.contextInfo.expiration, 86_400);
    await anna.send(to, { disappearingMessagesInChat: false });
    await message({ text: "and off" });
  });
  for (const [kind, { content, wanted }] of Object.entries(business)) {
    await check(subject, kind, async () => {
      const got = await bridge.message(await anna.relay(to, content));
      for (const text of wanted.texts) ok(got.content.includes(text), `${text} is not in: ${got.content}`);
      if (wanted.buttons) deepEqual(got.interactive.buttons.map((b) => b.text), wanted.buttons);
      if (wanted.selected) deepEqual(got.interactive.selected, wanted.selected);
    });
  }
  await check(subject, "status update is not a message", async () => {
    const { key } = await anna.send("status@broadcast", { text: "at the lake" }, { statusJidList: [owner.pn], backgroundColor: "#000000", font: 1 });
    equal((await message({ text: "after the status" })).content, "after the status");
    equal(bridge.seen(key.id), undefined);
  });
  await check(subject, "with a new signed key", async () => {
    await anna.sock.rotateSignedPreKey();
    equal((await message({ text: "new keys" })).content, "new keys");
  });
  await addons(subject, { bridge, author: anna, member: anna, to, files });
}
