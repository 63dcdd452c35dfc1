// A person with a hidden number, known only by her hidden id (LID).
import { deepEqual, equal } from "node:assert/strict";
import { check } from "./table.mjs";

const textOf = (content) => content.extendedTextMessage?.text ?? content.conversation;

export async function hidden({ network, bridge, owner, files }, carla) {
  const subject = "person without a number";
  await carla.register();
  await network.hideNumber(carla.phone);
  await network.username(carla.phone, "carla.w");
  if (!(await check(subject, "Baileys by QR code", () => carla.link("qr")))) return;
  await check(subject, "text to bridged", async () => {
    const { key } = await carla.send(owner.lid, { text: "guess who" });
    const got = await bridge.message(key.id);
    equal(got.content, "guess who");
    equal(got.chatJid, carla.lid);
    equal(got.senderLid, carla.lid);
    equal(got.senderUsername, "carla.w");
  });
  await check(subject, "text, reaction and picture from and to bridged", async () => {
    const id = await bridge.send("send", { jid: carla.lid, text: "no idea" });
    equal(textOf(await carla.content(id)), "no idea");
    await carla.send(owner.lid, { react: { text: "😄", key: (await carla.message(id)).key } });
    await bridge.message(id, (m) => m.reactions[0]?.emoji === "😄");
    const { key } = await carla.send(owner.lid, { image: files["picture.jpg"] });
    deepEqual(await bridge.file(await bridge.message(key.id)), files["picture.jpg"]);
  });
  await carla.leave();
}
