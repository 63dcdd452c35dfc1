import { peopleOf } from "../../../shared/ids";
import { chat, choice, either, flag, fromChat, later, list, msgId, people, quote, required, text, time, toChat } from "../fields";
import { withAs, type Field, type Resource } from "../operation";

const caption = text("Caption", "caption", "The text below an image, video or document", { typeOptions: { rows: 2 } });
const fileName = text("File Name", "fileName", "The name of a document as recipients see it");
const mimetype = text("MIME Type", "mimetype", "What the file is, if its own type is wrong. A video or a sound needs a type that computers open, such as <code>video/mp4</code> or <code>audio/mpeg</code>.", { placeholder: "application/pdf" });
const voice = flag("Voice Note", "ptt", "Whether to send a sound as a voice note. What is not Opus in Ogg needs ffmpeg on the bridge.");
const convert = flag("Convert Video", "convert", "Whether to convert a video that phones may not play to MP4. This needs ffmpeg on the bridge, and may take minutes. Formats that computers refuse, such as MOV, are converted without this option.");
const gif = flag("As GIF", "gif", "Whether recipients see a video repeated and without its sound. An animated GIF becomes such a video without this option, if the bridge has ffmpeg.");
const viewOnce = flag("View Once", "viewOnce", "Whether recipients see an image, a video or a voice note only once");
const number = (displayName: string, name: string, limit: number): Field => ({
  property: { displayName, name, type: "number", required: true, default: 0, typeOptions: { minValue: -limit, maxValue: limit, numberPrecision: 7 } },
});

const narrowing: Field[] = [
  { ...flag("Ignore Accents", "fold", "Whether to find letters with and without accents alike"), value: (on) => (on ? "accents" : undefined) },
  { ...text("Sender", "sender", "Only messages of this person, by JID or number"), value: (who) => peopleOf(who)[0] },
  choice("From Me", "fromMe", "Whether to find own messages, or those of others", either),
  choice("Has File", "hasMedia", "Whether to find messages with a file, or those without one", either),
  choice("Pinned", "pinned", "Whether to find pinned messages, or the others", either),
  time("Since", "since", "The earliest time"),
  choice("Starred", "starred", "Whether to find messages that the account has starred, or the others", either),
  text("Type", "type", "A <code>messageType</code>, or <code>media</code>, <code>image</code>, <code>video</code>, <code>audio</code>, <code>document</code>, <code>sticker</code> or <code>link</code>"),
  time("Until", "until", "The latest time"),
];

const chosen = list("Answers", "answers", "The chosen answers, as the poll has them");
const answers: Field = { ...chosen, as: "options", property: { ...chosen.property, required: false } };

const contacts: Field = {
  property: {
    displayName: "Contacts",
    name: "contacts",
    type: "fixedCollection",
    required: true,
    typeOptions: { multipleValues: true, multipleValueButtonText: "Add Contact" },
    default: {},
    options: [
      {
        displayName: "Contact",
        name: "contact",
        values: [
          { displayName: "Email", name: "email", type: "string", default: "", placeholder: "name@email.com" },
          { displayName: "Name", name: "displayName", type: "string", default: "", description: "The name that is shown" },
          { displayName: "Organization", name: "organization", type: "string", default: "" },
          { displayName: "Phone", name: "phone", type: "string", default: "", description: "The number with its country code" },
          { displayName: "Title", name: "title", type: "string", default: "", description: "What the person is there" },
        ],
      },
    ],
  },
  value: (entered) => ((entered as { contact?: Array<Record<string, string>> }).contact ?? []).map(card),
};

// card is a contact without what was left empty, its number in digits.
function card(entered: Record<string, string>): Record<string, string> {
  const given = Object.entries(entered).filter(([, value]) => value !== "");
  return Object.fromEntries(given.map(([name, value]) => [name, name === "phone" ? value.replace(/\D/g, "").replace(/^00/, "") : value]));
}

const album: Field = {
  property: {
    displayName: "Pictures and Videos",
    name: "items",
    type: "fixedCollection",
    required: true,
    typeOptions: { multipleValues: true, multipleValueButtonText: "Add Picture or Video" },
    default: {},
    description: "2 to 30, in the order in which they are shown",
    options: [
      {
        displayName: "Item",
        name: "item",
        values: [
          { displayName: "Caption", name: "caption", type: "string", default: "" },
          { displayName: "Type", name: "type", type: "options", options: [{ name: "Image", value: "image" }, { name: "Video", value: "video" }], default: "image" },
          { displayName: "URL", name: "url", type: "string", default: "", description: "A public http or https address" },
        ],
      },
    ],
  },
  value: (entered) => (entered as { item?: Array<Record<string, string>> }).item ?? [],
};

export const message: Resource = {
  name: "Message",
  value: "message",
  operations: [
    { name: "Delete", value: "delete", action: "Delete a message for everyone", method: "DELETE", path: "/api/chats/{jid}/messages/{msgId}", fields: [chat, msgId] },
    { name: "Delete for Me", value: "deleteForMe", action: "Delete a message for yourself", description: "Delete any message here and on the account's own devices", method: "DELETE", path: "/api/chats/{jid}/messages/{msgId}?for=me", fields: [chat, msgId] },
    { name: "Download File", value: "download", action: "Download the file of a message", path: "/api/messages/media/{jid}/{msgId}", fields: [chat, msgId], file: "down" },
    {
      name: "Edit",
      value: "edit",
      action: "Edit a message",
      description: "Replace the text of an own message, or its caption, within 15 minutes",
      method: "PATCH",
      path: "/api/chats/{jid}/messages/{msgId}",
      fields: [chat, msgId, required("Text", "text", "The new text or caption", { typeOptions: { rows: 3 } })],
      options: [people("Mentions", "mentions", "The people to notify")],
    },
    { name: "Forward", value: "forward", action: "Forward a message", method: "POST", path: "/api/messages/forward", fields: [fromChat, withAs(msgId, "sourceMsgId"), toChat], options: [later] },
    { name: "Get", value: "get", action: "Get a message", path: "/api/chats/{jid}/messages/{msgId}", fields: [chat, msgId] },
    {
      name: "Get Many",
      value: "getAll",
      action: "Get the messages of a chat",
      path: "/api/chats/{jid}/messages",
      fields: [chat],
      options: [...narrowing, choice("Order", "order", "Which messages come first", { desc: "Newest First", asc: "Oldest First" }), text("With Text", "q", "A part of the text")],
      list: "messages",
      pages: 1000,
    },
    {
      name: "Pin",
      value: "pin",
      action: "Pin a message",
      description: "Pin a message to the top of its chat, for everybody in it",
      method: "POST",
      path: "/api/chats/{jid}/messages/{msgId}/pin",
      fields: [chat, msgId, choice("Duration", "duration", "How long it is pinned", { "7d": "7 Days", "24h": "24 Hours", "30d": "30 Days" })],
    },
    {
      name: "React",
      value: "react",
      action: "React to a message",
      method: "POST",
      path: "/api/messages/react",
      fields: [withAs(chat, "chatJid"), msgId, text("Emoji", "emoji", "One emoji. Empty removes the reaction.", { placeholder: "👍" })],
    },
    {
      name: "Search",
      value: "search",
      action: "Search messages",
      path: "/api/messages/search",
      fields: [text("Text", "q", "A part of the text in any script. May be empty where an option narrows the search.")],
      options: [
        text("Chat JID", "chat", "Only messages of this chat"),
        choice("Chat Kind", "chatType", "Only messages of groups, or of chats with people", { all: "All", group: "Groups", individual: "People" }),
        ...narrowing,
      ],
      list: "matches",
      pages: 500,
    },
    { name: "Send Album", value: "sendAlbum", action: "Send an album", description: "Let the bridge fetch pictures and videos, and send them together", method: "POST", path: "/api/messages/send-album", fields: [chat, album], options: [...quote, later], converts: true },
    { name: "Send Contact", value: "sendContact", action: "Send a contact", method: "POST", path: "/api/messages/send-contact", fields: [chat, contacts], options: [...quote, later] },
    {
      name: "Send File",
      value: "sendFile",
      action: "Send a file",
      description: "Send an image, video, sound, document or sticker",
      method: "POST",
      path: "/api/messages/send-file",
      fields: [chat],
      options: [
        gif,
        caption,
        convert,
        fileName,
        mimetype,
        ...quote,
        later,
        choice("Type", "type", "What to send the file as. Without this option its bytes decide.", { document: "Document", audio: "Audio", image: "Image", sticker: "Sticker", video: "Video" }),
        viewOnce,
        voice,
      ],
      file: "up",
      converts: true,
    },
    {
      name: "Send File From URL",
      value: "sendMedia",
      action: "Send a file from a URL",
      description: "Let the bridge fetch a file from a public address, and send it",
      method: "POST",
      path: "/api/messages/send-media",
      fields: [
        chat,
        required("URL", "url", "A public http or https address", { placeholder: "https://example.org/engine.pdf" }),
        choice("Type", "type", "What to send the file as", { image: "Image", audio: "Audio", document: "Document", video: "Video" }),
      ],
      options: [gif, caption, convert, fileName, mimetype, ...quote, later, viewOnce, voice],
      converts: true,
    },
    {
      name: "Send Location",
      value: "sendLocation",
      action: "Send a location",
      method: "POST",
      path: "/api/messages/send-location",
      fields: [chat, number("Latitude", "latitude", 90), number("Longitude", "longitude", 180)],
      options: [text("Address", "address", "The place's address"), text("Name", "name", "The place's name"), ...quote, later],
    },
    {
      name: "Send Poll",
      value: "sendPoll",
      action: "Send a poll",
      method: "POST",
      path: "/api/messages/send-poll",
      fields: [chat, required("Question", "name", "What the poll asks"), list("Answers", "values", "2 to 12 different answers")],
      options: [
        { property: { displayName: "Choices per Person", name: "selectableCount", type: "number", default: 1, typeOptions: { minValue: 0, maxValue: 12 }, description: "How many answers one person may choose. 0 is any number." } },
        ...quote,
        later,
      ],
    },
    {
      name: "Send Text",
      value: "sendText",
      action: "Send a text",
      method: "POST",
      path: "/api/messages/send",
      fields: [chat, required("Text", "text", "What to send, with WhatsApp's own marks for bold and others", { typeOptions: { rows: 3 } })],
      options: [
        flag("Link Preview", "linkPreview", "Whether to show the page of the first link, which the bridge fetches. Without this option the bridge's setting counts."),
        flag("Mention Everybody", "mentionAll", "Whether to notify all members of a group"),
        people("Mentions", "mentions", "The people to notify"),
        ...quote,
        later,
      ],
    },
    { name: "Star", value: "star", action: "Star a message", description: "Star a message on the account's devices", method: "POST", path: "/api/chats/{jid}/messages/{msgId}/star", fields: [chat, msgId] },
    { name: "Unpin", value: "unpin", action: "Unpin a message", method: "DELETE", path: "/api/chats/{jid}/messages/{msgId}/pin", fields: [chat, msgId] },
    { name: "Unstar", value: "unstar", action: "Remove the star of a message", method: "DELETE", path: "/api/chats/{jid}/messages/{msgId}/star", fields: [chat, msgId] },
    {
      name: "Vote",
      value: "vote",
      action: "Vote in a poll",
      description: "Set the account's vote in a poll. Without answers the vote is withdrawn.",
      method: "POST",
      path: "/api/chats/{jid}/messages/{msgId}/vote",
      fields: [chat, msgId, answers],
    },
  ],
};
