import { choice, contact, either, list, text } from "../fields";
import type { Field, Resource } from "../operation";

export const size: Field = choice("Size", "size", "A small picture, or the one that the apps open", { full: "Full", preview: "Preview" });

export const contactResource: Resource = {
  name: "Contact",
  value: "contact",
  operations: [
    { name: "Block", value: "block", action: "Block a contact", method: "POST", path: "/api/contacts/{jid}/block", fields: [contact] },
    {
      name: "Check Numbers",
      value: "check",
      action: "Check which numbers are on WhatsApp",
      description: "Ask the network who has the numbers. At most 200 an hour, because accounts that ask about many get banned.",
      method: "POST",
      path: "/api/contacts/check",
      fields: [list("Numbers", "phones", "Up to 50 numbers with their country codes, in any spelling")],
      list: "results",
    },
    { name: "Get", value: "get", action: "Get a contact", path: "/api/contacts/{jid}", fields: [contact] },
    {
      name: "Get Many",
      value: "getAll",
      action: "Get many contacts",
      path: "/api/contacts",
      options: [
        choice("Blocked", "blocked", "Whether to get people whom the account blocks, or the others", either),
        text("JIDs", "jid", "Only these people, separated by commas"),
        choice("Saved", "saved", "Whether to get people in the address book, or the others", either),
        text("With Name or Number", "q", "A part of any name, username or number"),
      ],
      list: "contacts",
      pages: 500,
    },
    { name: "Get Picture", value: "getPicture", action: "Get the picture of a contact", path: "/api/contacts/{jid}/picture", fields: [contact, size], file: "down" },
    { name: "Get Profile", value: "getProfile", action: "Get what a contact shows about itself", path: "/api/contacts/{jid}/profile", fields: [contact] },
    {
      name: "Save",
      value: "save",
      action: "Save a contact in the address book",
      description: "Save a name in the account's address book, on all of its devices. An empty name removes the contact from it.",
      method: "PATCH",
      path: "/api/contacts/{jid}",
      fields: [contact, { ...text("Name", "name", "The name in the address book; empty removes the contact from it"), value: (entered) => entered ?? "" }],
      options: [text("First Name", "firstName", "The first word of the name if it is left out")],
    },
    { name: "Unblock", value: "unblock", action: "Unblock a contact", method: "DELETE", path: "/api/contacts/{jid}/block", fields: [contact] },
  ],
};
