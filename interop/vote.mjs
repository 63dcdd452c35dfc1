// A vote in a poll, which Baileys can read but has no call for.
import { createHash } from "node:crypto";
import { field, seal } from "./seal.mjs";

// voteForms lists by which of their names voter and creator may stand in what
// encrypts a vote.
export const voteForms = [
  { voter: "number", creator: "number" },
  { voter: "LID", creator: "LID" },
  { voter: "number", creator: "LID" },
  { voter: "LID", creator: "number" },
];

// votePlaces lists where a vote may be sent, and what it may name as the chat
// of the poll.
export const votePlaces = ({ pn, lid }) => [pn, lid].flatMap((chat) => [pn, lid].map((named) => ({ chat, named })));

const sha256 = (text) => createHash("sha256").update(text).digest();

// formOf returns a person's number or LID.
export const formOf = (person, form) => (form === "LID" ? person.lid : person.pn);

// vote votes in a poll that somebody else made.
export async function vote(voter, creator, chat, poll, choices, forms, named = chat) {
  const author = formOf(creator, forms.creator);
  // A PollVoteMessage: the hashes of the options chosen, in field 1.
  const plain = Buffer.concat(choices.map((c) => field(1, sha256(c))));
  const sealed = seal(poll, "Poll Vote", author, formOf(voter, forms.voter), plain);
  const pollCreationMessageKey = { remoteJid: named, fromMe: false, id: poll.key.id, participant: chat.endsWith("@g.us") ? author : undefined };
  return voter.relay(chat, { pollUpdateMessage: { pollCreationMessageKey, vote: sealed, senderTimestampMs: Date.now() } });
}
