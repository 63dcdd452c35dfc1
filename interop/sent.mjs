// From bridged to Baileys, in direct chats, and what becomes of the messages.
import { deepEqual, equal, ok } from "node:assert/strict";
import { proto } from "baileys";
import { check } from "./table.mjs";
import { openVote } from "./vote.mjs";

const textOf = (content) => content.extendedTextMessage?.text ?? content.conversation;

export async function sent({ network, bridge, owner, anna, ben, files }) {
  const subject = "bridged to Baileys";
  const send = async (route, body) => {
    const id = await bridge.send(route, { jid: anna.pn, ...body });
    return { id, content: await anna.content(id) };
  };

  for (const form of ["pn", "lid"]) {
    await check(subject, `text to the ${form === "pn" ? "number" : "LID"}`, async () => {
      const { id, content } = await send("send", { jid: anna[form], text: "¿Qué tal? 🙂" });
      equal(textOf(content), "¿Qué tal? 🙂");
      const { key } = await anna.message(id);
      ok([owner.pn, owner.lid].includes(key.remoteJid), key.remoteJid);
      equal(key.fromMe, false);
    });
  }
  await check(subject, "reply", async () => {
    const { key } = await anna.send(owner.pn, { text: "who comes?" });
    await bridge.message(key.id);
    const { content } = await send("send", { text: "I do", quotedMsgId: key.id });
    const { stanzaId, participant, quotedMessage } = content.extendedTextMessage.contextInfo;
    equal(stanzaId, key.id);
    ok([anna.pn, anna.lid].includes(participant), participant);
    equal(textOf(quotedMessage), "who comes?");
  });
  await check(subject, "mention", async () => {
    const { content } = await send("send", { text: `ask @${ben.phone}`, mentions: [ben.pn] });
    const [mentioned] = content.extendedTextMessage.contextInfo.mentionedJid;
    ok([ben.pn, ben.lid].includes(mentioned), mentioned);
  });
  await check(subject, "reaction: set, changed, removed", async () => {
    const { key } = await anna.send(owner.pn, { text: "react to this" });
    await bridge.message(key.id);
    for (const emoji of ["🎉", "🙏", ""]) {
      await bridge.send("react", { chatJid: anna.pn, msgId: key.id, emoji });
      const { reaction } = await anna.reaction(key.id, emoji);
      equal(reaction.key.fromMe, false);
    }
  });

  const media = {
    image: ["picture.jpg", { caption: "look" }, "imageMessage", { caption: "look", mimetype: "image/jpeg", width: 160, height: 100 }, "image", ["jpegThumbnail"]],
    video: ["clip.mp4", { caption: "watch" }, "videoMessage", { caption: "watch", mimetype: "video/mp4", seconds: 2 }],
    GIF: ["clip.mp4", { gif: true }, "videoMessage", { gifPlayback: true }, "video"],
    voice: ["voice.ogg", { ptt: true }, "audioMessage", { ptt: true, seconds: 3 }, "audio", ["waveform"]],
    audio: ["voice.ogg", {}, "audioMessage", { seconds: 3 }],
    document: ["page.pdf", { fileName: "a page.pdf" }, "documentMessage", { fileName: "a page.pdf", mimetype: "application/pdf" }],
    "document with a caption": ["page.pdf", { fileName: "b.pdf", caption: "read" }, "documentMessage", { caption: "read" }, "document"],
  };
  for (const [kind, [file, body, field, wanted, type = kind, drawn = []]] of Object.entries(media)) {
    await check(subject, kind, async () => {
      const { id, content } = await send("send-media", { url: network.fileURL(file), type, ...body });
      for (const [name, value] of Object.entries(wanted)) equal(content[field][name], value, name);
      for (const name of drawn) ok(content[field][name]?.length > 0, `no ${name}`);
      deepEqual(await anna.file(await anna.message(id)), files[file]);
    });
  }
  const viewOnce = {
    image: ["picture.jpg", "imageMessage", "viewOnceMessageV2"],
    video: ["clip.mp4", "videoMessage", "viewOnceMessageV2"],
    audio: ["voice.ogg", "audioMessage", "viewOnceMessageV2Extension"],
  };
  for (const [type, [file, field, wrapper]] of Object.entries(viewOnce)) {
    await check(subject, `view-once ${type}`, async () => {
      const { id, content } = await send("send-media", { url: network.fileURL(file), type, viewOnce: true, ...(type === "audio" && { ptt: true }) });
      equal(content[field].viewOnce, true);
      equal(content[field].jpegThumbnail?.length ?? 0, 0);
      const got = await anna.message(id);
      ok(got.message[wrapper], Object.keys(got.message).join());
      deepEqual(await anna.file(got), files[file]);
    });
  }
  await check(subject, "album", async () => {
    const items = [["picture.jpg", "image", "one"], ["clip.mp4", "video", "two"]];
    const album = await bridge.call("POST", "/api/messages/send-album", { jid: anna.pn, items: items.map(([file, type, caption]) => ({ url: network.fileURL(file), type, caption })) });
    const { expectedImageCount, expectedVideoCount } = (await anna.content(album.msgId)).albumMessage;
    deepEqual([expectedImageCount, expectedVideoCount], [1, 1]);
    for (const [i, [file, type, caption]] of items.entries()) {
      const got = await anna.message(album.items[i].msgId);
      const { associationType, parentMessageKey } = got.message.messageContextInfo.messageAssociation;
      equal(associationType, proto.MessageAssociation.AssociationType.MEDIA_ALBUM);
      equal(parentMessageKey.id, album.msgId);
      equal((await anna.content(got.key.id))[`${type}Message`].caption, caption);
      deepEqual(await anna.file(got), files[file]);
    }
  });
  await check(subject, "PNG, as the JPEG that phones show", async () => {
    const { id, content } = await send("send-media", { url: network.fileURL("picture.png"), type: "image" });
    equal(content.imageMessage.mimetype, "image/jpeg");
    equal((await anna.file(await anna.message(id))).subarray(0, 3).toString("hex"), "ffd8ff");
  });
  await check(subject, "location", async () => {
    const { content } = await send("send-location", { latitude: 52.5163, longitude: 13.3777, name: "Gate", address: "Square 1" });
    const { degreesLatitude, degreesLongitude, name, address } = content.locationMessage;
    deepEqual([degreesLatitude, degreesLongitude, name, address], [52.5163, 13.3777, "Gate", "Square 1"]);
  });
  await check(subject, "contact", async () => {
    const { content } = await send("send-contact", { contacts: [{ displayName: "Ben", phone: ben.phone }] });
    equal(content.contactMessage.displayName, "Ben");
    ok(content.contactMessage.vcard.includes(`waid=${ben.phone}`), content.contactMessage.vcard);
  });
  await check(subject, "contacts", async () => {
    const { content } = await send("send-contact", { contacts: [{ displayName: "Ben", phone: ben.phone }, { displayName: "Carla", phone: "4915100000009" }] });
    deepEqual(content.contactsArrayMessage.contacts.map((c) => c.displayName), ["Ben", "Carla"]);
  });
  await check(subject, "poll", async () => {
    const { content } = await send("send-poll", { name: "When?", values: ["Saturday", "Sunday"], selectableCount: 1 });
    const poll = content.pollCreationMessageV3 ?? content.pollCreationMessage;
    equal(poll.name, "When?");
    deepEqual(poll.options.map((o) => o.optionName), ["Saturday", "Sunday"]);
  });

  await check(subject, "votes in a poll from Baileys", async () => {
    const values = ["Hill", "Lake"];
    const { key: { id } } = await anna.send(owner.pn, { poll: { name: "Where?", values, selectableCount: 0 } });
    await bridge.message(id);
    const seen = new Set();
    for (const options of [["Lake"], ["Hill", "Lake"], []]) {
      await bridge.change("POST", anna.pn, id, "/vote", { options });
      const got = await anna.that((m) => m.message.pollUpdateMessage?.pollCreationMessageKey.id === id && !seen.has(m.key.id));
      seen.add(got.key.id);
      deepEqual(openVote(got.message.pollUpdateMessage, owner, anna, await anna.message(id), values), options);
    }
  });
  await check(subject, "message pinned and unpinned", async () => {
    const { PIN_FOR_ALL, UNPIN_FOR_ALL } = proto.Message.PinInChatMessage.Type;
    const { id } = await send("send", { text: "pin this" });
    const pin = (type) => anna.that(({ message: { pinInChatMessage: pin } }) => pin?.key.id === id && pin.type === type);
    await bridge.change("POST", anna.pn, id, "/pin", { duration: "7d" });
    equal((await pin(PIN_FOR_ALL)).message.messageContextInfo.messageAddOnDurationInSecs, 604_800);
    await bridge.change("DELETE", anna.pn, id, "/pin");
    await pin(UNPIN_FOR_ALL);
  });
  await check(subject, "disappearing messages switched on and off", async () => {
    for (const seconds of [604_800, 0]) {
      const known = new Set(anna.changes.map((c) => c.what));
      await bridge.changeChat("PATCH", anna.pn, "", { disappearingSeconds: seconds });
      await anna.change("chats.update", (c) => !known.has(c) && "ephemeralExpiration" in c && (c.ephemeralExpiration ?? 0) === seconds);
    }
  });

  const forwarded = {
    text: { text: "pass it on" },
    image: { image: files["picture.jpg"], caption: "look" },
    sticker: { sticker: files["sticker.webp"] },
    voice: { audio: files["voice.ogg"], mimetype: "audio/ogg; codecs=opus", seconds: 3, ptt: true },
    document: { document: files["page.pdf"], mimetype: "application/pdf", fileName: "p.pdf" },
    location: { location: { degreesLatitude: 1, degreesLongitude: 2 } },
    poll: { poll: { name: "Which?", values: ["a", "b"], selectableCount: 0 } },
  };
  for (const [kind, content] of Object.entries(forwarded)) {
    await check(subject, `forwarded ${kind}`, async () => {
      const { key, message } = await anna.send(owner.pn, content);
      await bridge.message(key.id);
      const id = await bridge.send("forward", { sourceChatJid: anna.pn, sourceMsgId: key.id, destJid: ben.pn });
      const got = await ben.content(id);
      const info = Object.values(got).find((part) => part?.contextInfo?.isForwarded);
      ok(info || kind === "poll", `not marked as forwarded: ${Object.keys(got)}`);
      if (message.imageMessage || message.stickerMessage || message.audioMessage || message.documentMessage) {
        deepEqual(await ben.file(await ben.message(id)), content.image ?? content.sticker ?? content.audio ?? content.document);
      }
    });
  }

  await check("traffic", "50 texts each way at the same time, each once", async () => {
    const texts = Array.from({ length: 50 }, (_, i) => `crossing ${i}`);
    const there = (async () => {
      for (const text of texts) await bridge.message((await anna.send(owner.pn, { text })).key.id);
    })();
    for (const text of texts) equal(textOf((await send("send", { text })).content), text);
    await there;
    const { messages } = await bridge.call("GET", `/api/messages/individual/${encodeURIComponent(anna.pn)}?q=crossing&limit=1000`);
    equal(messages.length, 100);
    deepEqual(messages.filter((m) => m.fromMe).map((m) => m.content).sort(), [...texts].sort());
  });

  await check("receipts", "delivered and read, from Baileys", async () => {
    const { id } = await send("send", { text: "have you read this?" });
    await bridge.message(id, (m) => ["delivered", "read"].includes(m.status));
    await anna.sock.readMessages([(await anna.message(id)).key]);
    await bridge.message(id, (m) => m.status === "read");
  });
  await check("receipts", "played, from Baileys", async () => {
    const { id } = await send("send-media", { url: network.fileURL("voice.ogg"), type: "audio", ptt: true });
    const { key } = await anna.message(id);
    await anna.sock.sendReceipt(key.remoteJid, undefined, [id], "played");
    await bridge.message(id, (m) => m.status === "played");
  });
  await check("receipts", "delivered, from bridged", async () => {
    const { key } = await anna.send(owner.pn, { text: "has it arrived?" });
    await anna.delivered(key.id);
  });
  await check("repeats", "bridged resends a message that Baileys could not decrypt", async () => {
    const asked = await network.damaged(anna.phone, async () => {
      equal(textOf((await send("send", { text: "once more, please" })).content), "once more, please");
    });
    ok(asked > 0, "Baileys asked for nothing");
  });
  await check("repeats", "Baileys resends a message that bridged could not decrypt", async () => {
    const asked = await network.damaged(owner.phone, async () => {
      const { key } = await anna.send(owner.pn, { text: "and once more" });
      equal((await bridge.message(key.id, (m) => m.messageType !== "undecryptable")).content, "and once more");
    });
    ok(asked > 0, "bridged asked for nothing");
  });
  await check("repeats", "Baileys has lost its sessions", async () => {
    const address = await anna.sock.signalRepository.jidToSignalProtocolAddress(owner.lid);
    const sessions = [0, 1, 2, 3, 4].map((device) => [address.replace(/\.\d+$/, `.${device}`), null]);
    await anna.sock.authState.keys.set({ session: Object.fromEntries(sessions) });
    equal(textOf((await send("send", { text: "do you know me?" })).content), "do you know me?");
    const { key } = await anna.send(owner.pn, { text: "I do" });
    equal((await bridge.message(key.id)).content, "I do");
  });
}
