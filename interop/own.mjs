// Another device of the account itself, and its phone.
import { deepEqual, equal } from "node:assert/strict";
import { check } from "./table.mjs";

const textOf = (content) => content.extendedTextMessage?.text ?? content.conversation;

export async function own({ network, bridge, owner, anna, newDevice, files }) {
  const subject = "own devices";
  await check(subject, "a message by Baileys as the account is an own message", async () => {
    const { key } = await owner.send(anna.pn, { text: "from my laptop" });
    const got = await bridge.message(key.id);
    equal(got.content, "from my laptop");
    equal(got.fromMe, true);
    equal(got.chatJid, anna.pn);
    equal(textOf(await anna.content(key.id)), "from my laptop");
  });
  await check(subject, "its picture", async () => {
    const { key } = await owner.send(anna.pn, { image: files["picture.jpg"], caption: "mine" });
    deepEqual(await bridge.file(await bridge.message(key.id)), files["picture.jpg"]);
  });
  await check(subject, "its edit, reaction and deletion", async () => {
    const { key } = await owner.send(anna.pn, { text: "from my laptpo" });
    await bridge.message(key.id);
    await owner.send(anna.pn, { text: "from my laptop", edit: key });
    await bridge.message(key.id, (m) => m.content === "from my laptop" && m.editedAt);
    await owner.send(anna.pn, { react: { text: "👍", key } });
    await bridge.message(key.id, (m) => m.reactions[0]?.senderJid === owner.pn);
    await owner.send(anna.pn, { delete: key });
    await bridge.message(key.id, (m) => m.deletedAt && m.content === "");
  });
  await check(subject, "a message by bridged is an own message for Baileys", async () => {
    const id = await bridge.send("send", { jid: anna.pn, text: "from bridged" });
    equal(textOf(await owner.content(id)), "from bridged");
    equal((await owner.message(id)).key.fromMe, true);
  });
  await check(subject, "a message by bridged reaches the account's phone and the contact's", async () => {
    const id = await bridge.send("send", { jid: anna.pn, text: "to every device" });
    for (const phone of [owner.phone, anna.phone]) equal((await network.heard(phone, "to every device")).id, id);
  });
  await check(subject, "the contact's phone itself, with Baileys linked", async () => {
    const { id } = await network.sendText(anna.phone, owner.phone, "typed on the phone");
    equal((await bridge.message(id)).content, "typed on the phone");
    equal(textOf(await anna.content(id)), "typed on the phone");
  });
  await check(subject, "a newly linked device of a contact gets the next message", async () => {
    const tablet = newDevice(anna, "tablet");
    await tablet.link("qr");
    const id = await bridge.send("send", { jid: anna.pn, text: "to the new tablet, too" });
    try {
      equal(textOf(await tablet.content(id)), "to the new tablet, too");
    } finally {
      await tablet.leave();
    }
  });
}
