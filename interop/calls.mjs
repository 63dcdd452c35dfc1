// Calls: Baileys can reject them but not make them.
import { equal, ok } from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { check } from "./table.mjs";

// say sends a caller's stanza about a call and waits until the network has it.
const say = (caller, to, id, tag, attrs = {}, content = undefined) =>
  caller.sock.query({
    tag: "call", attrs: { id: caller.sock.generateMessageTag(), to: to.lid },
    content: [{ tag, attrs: { "call-id": id, "call-creator": caller.lid, ...attrs }, content }],
  });

export async function calls({ bridge, owner, anna }) {
  const subject = "calls";
  const ring = async (...media) => {
    const id = randomBytes(16).toString("hex").toUpperCase();
    await say(anna, owner, id, "offer", {}, ["audio", ...media].map((tag) => ({ tag, attrs: { enc: tag === "audio" ? "opus" : "h264" } })));
    return bridge.telephone(id, "ringing");
  };
  await check(subject, "given up by their caller are missed", async () => {
    const { id, chatJid, fromJid, fromLid, isVideo } = await ring("video");
    for (const [got, wanted] of [[chatJid, anna.pn], [fromJid, anna.pn], [fromLid, anna.lid], [isVideo, true]]) equal(got, wanted);
    await say(anna, owner, id, "terminate", { reason: "timeout" });
    ok((await bridge.telephone(id, "missed")).endedAt);
  });
  await check(subject, "that bridged rejects", async () => {
    const { id } = await ring();
    await bridge.call("POST", `/api/calls/${id}/reject`);
    await anna.telephone(id, "reject");
    equal((await bridge.telephone(id, "rejected")).isVideo, false);
  });
  await check(subject, "that Baileys rejects as another device of the account", async () => {
    const { id } = await ring();
    const { from } = await owner.telephone(id, "offer");
    await owner.sock.rejectCall(id, from);
    await bridge.telephone(id, "rejected");
    await anna.telephone(id, "reject");
  });
}
