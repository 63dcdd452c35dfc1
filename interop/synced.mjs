// What the devices of an account share with each other only: bridged and Baileys are two
// devices of the same account.
import { deepEqual, equal, ok } from "node:assert/strict";
import { check } from "./table.mjs";

export async function synced({ bridge, owner, anna }) {
  const chat = anna.pn;
  // text stores a message by Anna on both devices.
  const text = async (content) => {
    const { key: { id } } = await anna.send(owner.pn, { text: content });
    await bridge.message(id);
    await owner.message(id);
    return id;
  };

  await stars({ bridge, owner, chat, text });
  await deletions({ bridge, owner, chat, text });
  await names({ bridge, owner, chat });
  await labels({ bridge, owner, anna, chat });
}

async function stars({ bridge, owner, chat, text }) {
  await check("own devices", "star set and removed by bridged", async () => {
    const id = await text("a star by bridged");
    await bridge.change("POST", chat, id, "/star");
    await owner.starred(id, true);
    await bridge.change("DELETE", chat, id, "/star");
    await owner.starred(id, false);
  });
  await check("own devices", "star set and removed by Baileys", async () => {
    const id = await text("a star by Baileys");
    for (const star of [true, false]) {
      await owner.sock.star(chat, [{ id, fromMe: false }], star);
      await bridge.message(id, (m) => m.starred === star);
    }
  });
}

async function deletions({ bridge, owner, chat, text }) {
  await check("own devices", "message deleted for the account by bridged", async () => {
    const id = await text("not for me");
    await bridge.change("DELETE", chat, id, "?for=me");
    equal((await owner.change("messages.delete", (key) => key.id === id)).fromMe, false);
    equal((await bridge.message(id, (m) => m.deletedAt)).content, "");
  });
  await check("own devices", "message deleted for the account by Baileys stays stored", async () => {
    const id = await text("not for my laptop");
    const { key, messageTimestamp } = await owner.message(id);
    await owner.sock.chatModify({ deleteForMe: { key, timestamp: Number(messageTimestamp), deleteMedia: false } }, chat);
    // The chat is muted in the same collection: bridged reads that after the deletion.
    await owner.sock.chatModify({ mute: Date.now() + 3_600_000 }, chat);
    await bridge.chat(chat, (c) => c.mutedUntil);
    const { message } = await bridge.change("GET", chat, id, "");
    deepEqual([message.content, message.deletedAt], ["not for my laptop", null]);
    await owner.sock.chatModify({ mute: null }, chat);
    await bridge.chat(chat, (c) => !c.mutedUntil);
  });
}

async function names({ bridge, owner, chat }) {
  const path = `/api/contacts/${encodeURIComponent(chat)}`;
  await check("own devices", "name saved by bridged", async () => {
    await bridge.call("PATCH", path, { name: "Anna of the lake" });
    await owner.change("contacts.upsert", (c) => c.name === "Anna of the lake");
  });
  await check("own devices", "name saved, changed and removed by Baileys", async () => {
    for (const fullName of ["Anna of the hill", "Anna of the wood"]) {
      await owner.sock.addOrEditContact(chat, { fullName, firstName: "Anna", saveOnPrimaryAddressbook: true });
      await bridge.chat(chat, (c) => c.name === fullName);
      const { name, isSaved } = await bridge.call("GET", path);
      deepEqual([name, isSaved], [fullName, true]);
    }
    await owner.sock.removeContact(chat);
    await bridge.chat(chat, (c) => c.name !== "Anna of the wood");
    deepEqual((await bridge.call("GET", path)).isSaved, false);
  });
}

async function labels({ bridge, owner, anna, chat }) {
  const label = { id: "4", name: "Paid", color: 3 };
  await check("own devices", "label created, changed and put on a chat by Baileys", async () => {
    await owner.sock.addLabel(chat, label);
    deepEqual(await bridge.label("4"), { ...label, isDeleted: false });
    await owner.sock.addChatLabel(chat, "4");
    await bridge.chat(chat, (c) => c.labels.includes("4"));
    await owner.sock.removeChatLabel(chat, "4");
    await bridge.chat(chat, (c) => !c.labels.length);
    await owner.sock.addLabel(chat, { ...label, name: "Paid in full" });
    await bridge.label("4", (l) => l.name === "Paid in full");
  });
  await check("own devices", "label created, put on a chat and deleted by bridged", async () => {
    const { label: { id } } = await bridge.call("POST", "/api/labels", { name: "Sent", color: 5 });
    const edit = await owner.change("labels.edit", (l) => l.id === id);
    deepEqual([edit.name, edit.color], ["Sent", 5]);
    const association = (type) => owner.change("labels.association", (a) => a.type === type && a.association.labelId === id);
    await bridge.changeChat("PUT", chat, `/labels/${id}`);
    const { chatId } = (await association("add")).association;
    ok([anna.pn, anna.lid].includes(chatId), chatId);
    await bridge.changeChat("DELETE", chat, `/labels/${id}`);
    await association("remove");
    await bridge.call("DELETE", `/api/labels/${id}`);
    await owner.change("labels.edit", (l) => l.id === id && l.deleted);
  });
}
