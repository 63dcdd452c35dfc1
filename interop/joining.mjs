// Groups joined by request, and their members' labels.
import { deepEqual, equal, ok } from "node:assert/strict";
import { check } from "./table.mjs";

export async function joining({ bridge, owner, anna, ben }) {
  const subject = "joining";
  const { id: jid } = await anna.sock.groupCreate("Readers", [owner.pn]);
  const path = `/api/groups/${encodeURIComponent(jid)}/requests`;
  const isIn = (group, person) => group.participants.some((p) => p.jid === person.pn);
  const ask = async () => ben.sock.groupAcceptInvite(await anna.sock.groupInviteCode(jid));

  await check(subject, "approval of people who join by the link, switched by Baileys", async () => {
    await bridge.group(jid, (g) => isIn(g, anna));
    for (const mode of ["on", "off", "on"]) {
      await anna.sock.groupJoinApprovalMode(jid, mode);
      await bridge.group(jid, (g) => g.joinApproval === (mode === "on"));
    }
    await anna.sock.groupParticipantsUpdate(jid, [owner.lid], "promote");
    await bridge.group(jid, (g) => g.participants.some((p) => p.jid === owner.pn && p.isAdmin));
  });
  await check(subject, "a request by Baileys, approved by bridged", async () => {
    await ask();
    await bridge.asks(jid, "created", ben.pn);
    const { requests } = await bridge.call("GET", path);
    deepEqual(requests.map((r) => r.jid), [ben.pn]);
    equal((await anna.sock.groupRequestParticipantsList(jid)).length, 1);
    const { participants } = await bridge.call("POST", path, { action: "approve", participants: [ben.pn] });
    equal(participants[0].status, "done");
    ok((await anna.sock.groupMetadata(jid)).participants.some((p) => p.id === ben.lid));
  });
  await check(subject, "labels of members, changed and taken back", async () => {
    for (const label of ["Cox", "Stroke 🚣", ""]) {
      await ben.sock.updateMemberLabel(jid, label);
      await bridge.group(jid, (g) => g.participants.some((p) => p.jid === ben.pn && p.label === label));
    }
  });
  await check(subject, "a request by Baileys, rejected by Baileys", async () => {
    await ben.sock.groupLeave(jid);
    await bridge.group(jid, (g) => !isIn(g, ben));
    await ask();
    await anna.sock.groupRequestParticipantsUpdate(jid, [ben.lid], "reject");
    await bridge.asks(jid, "revoked", ben.pn);
    deepEqual((await bridge.call("GET", path)).requests, []);
  });
}
