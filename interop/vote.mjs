// A vote in a poll, which Baileys can read but not send.
import { createHash } from "node:crypto";
import { decryptPollVote } from "baileys";
import { field, encrypt } from "./encrypt.mjs";

// voteForms lists the forms of the voter's and the creator's address that the
// encryption of a vote may use.
export const voteForms = [
  { voter: "number", creator: "number" },
  { voter: "LID", creator: "LID" },
  { voter: "number", creator: "LID" },
  { voter: "LID", creator: "number" },
];

// votePlaces lists the chats that a vote may be sent to, and those that it may
// name as the poll's.
export const votePlaces = ({ pn, lid }) => [pn, lid].flatMap((chat) => [pn, lid].map((named) => ({ chat, named })));

const sha256 = (text) => createHash("sha256").update(text).digest();

// formOf returns a person's number or LID.
export const formOf = (person, form) => (form === "LID" ? person.lid : person.pn);

// vote votes in another person's poll.
export async function vote(voter, creator, chat, poll, choices, forms, named = chat) {
  const author = formOf(creator, forms.creator);
  // A PollVoteMessage: the hashes of the chosen options, in field 1.
  const plain = Buffer.concat(choices.map((c) => field(1, sha256(c))));
  const encrypted = encrypt(poll, "Poll Vote", author, formOf(voter, forms.voter), plain);
  const pollCreationMessageKey = { remoteJid: named, fromMe: false, id: poll.key.id, participant: chat.endsWith("@g.us") ? author : undefined };
  return voter.relay(chat, { pollUpdateMessage: { pollCreationMessageKey, vote: encrypted, senderTimestampMs: Date.now() } });
}

// openVote returns the chosen options of a vote in a poll, as Baileys decrypts it. It fails
// if the vote is encrypted in none of the forms.
export function openVote(update, voter, creator, poll, options) {
  for (const form of voteForms) {
    try {
      const { selectedOptions } = decryptPollVote(update.vote, {
        pollCreatorJid: formOf(creator, form.creator), voterJid: formOf(voter, form.voter),
        pollMsgId: poll.key.id, pollEncKey: poll.message.messageContextInfo.messageSecret,
      });
      return options.filter((o) => selectedOptions.some((hash) => sha256(o).equals(hash)));
    } catch {
      // The next form may fit.
    }
  }
  throw new Error("the vote cannot be decrypted");
}
