// A vote in a poll, which Baileys can read but has no call for.
import { createCipheriv, createHash, createHmac, randomBytes } from "node:crypto";

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
const hmac = (key, ...parts) => createHmac("sha256", key).update(Buffer.concat(parts.map((p) => Buffer.from(p)))).digest();

// vote votes in a poll that somebody else made.
export async function vote(voter, creator, chat, poll, choices, forms, named = chat) {
  const name = (person, form) => (form === "LID" ? person.lid : person.pn);
  const by = name(voter, forms.voter);
  const id = poll.key.id;
  const secret = poll.message.messageContextInfo.messageSecret;
  const key = hmac(hmac(Buffer.alloc(32), secret), id, name(creator, forms.creator), by, "Poll Vote", [1]);
  // A PollVoteMessage: the hashes of the options chosen, in field 1.
  const plain = Buffer.concat(choices.map((c) => Buffer.concat([Buffer.from([0x0a, 32]), sha256(c)])));
  const encIv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, encIv).setAAD(Buffer.from(`${id}\0${by}`));
  const encPayload = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  const pollCreationMessageKey = { remoteJid: named, fromMe: false, id, participant: chat.endsWith("@g.us") ? name(creator, forms.creator) : undefined };
  return voter.relay(chat, { pollUpdateMessage: { pollCreationMessageKey, vote: { encPayload, encIv }, senderTimestampMs: Date.now() } });
}
