// From Baileys to bridged: what other people add to a message besides reactions
// and votes, and what accompanies its text.
import { deepEqual, equal, ok } from "node:assert/strict";
import { proto } from "baileys";
import { field, encrypt } from "./encrypt.mjs";
import { check } from "./table.mjs";
import { formOf, voteForms } from "./vote.mjs";

const { GOING, NOT_GOING, MAYBE } = proto.Message.EventResponseMessage.EventResponseType;
const pollAddOptionMessage = 121; // in a Message; Baileys does not know it
const POLL_ADD_OPTION = 5;

// addons makes an author write, and another member answer, in a chat with
// bridged.
export async function addons(subject, { bridge, author, member, to, files }) {
  const key = (id) => ({ remoteJid: to, id, fromMe: member === author, participant: to.endsWith("@g.us") ? author.lid : undefined });

  await check(subject, "answers to an event, member and author by number and LID", async () => {
    for (const form of voteForms) {
      const { key: { id } } = await author.send(to, { event: { name: "Picnic", startDate: new Date(Date.now() + 86_400_000) } });
      const event = await member.message(id);
      const answer = async (response, guests) => {
        const plain = proto.Message.EventResponseMessage.encode({ response, timestampMs: Date.now(), extraGuestCount: guests }).finish();
        const encrypted = encrypt(event, "Event Response", formOf(author, form.creator), formOf(member, form.voter), plain);
        await member.relay(to, { encEventResponseMessage: { eventCreationMessageKey: key(id), ...encrypted } });
      };
      await answer(NOT_GOING, 0);
      await bridge.message(id, (m) => m.event.responses.notGoing[0] === member.pn);
      await answer(MAYBE, 0);
      await bridge.message(id, (m) => m.event.responses.maybe[0] === member.pn);
      await answer(GOING, 2);
      const { event: { responses } } = await bridge.message(id, (m) => m.event.responses.going.length);
      deepEqual(responses, { going: [member.pn], maybe: [], notGoing: [], guests: 2 });
    }
  });
  for (const use of ["Poll Add Option", "Poll Edit"]) {
    await check(subject, `option added to a poll, encrypted as "${use}"`, async () => {
      // Baileys cannot add to another person's poll, so its
      // author does.
      const { key: { id } } = await author.send(to, { poll: { name: "When?", values: ["Saturday"], selectableCount: 0 } });
      const plain = field(pollAddOptionMessage, field(2, field(1, "Sunday")));
      const encrypted = encrypt(await author.message(id), use, author.lid, author.lid, plain);
      await author.relay(to, { secretEncryptedMessage: { targetMessageKey: { ...key(id), fromMe: true }, secretEncType: POLL_ADD_OPTION, ...encrypted } });
      const { poll } = await bridge.message(id, (m) => m.poll.options.length === 2);
      deepEqual(poll.options[1], { name: "Sunday", votes: 0, voters: [], addedBy: author.pn });
    });
  }
  await check(subject, "message pinned and unpinned", async () => {
    const { key: { id } } = await author.send(to, { text: "pin this" });
    await member.message(id);
    await member.send(to, { pin: key(id), type: 1, time: 86_400 });
    const { pinnedUntil } = await bridge.message(id, (m) => m.pinnedUntil);
    ok(Math.abs(new Date(pinnedUntil) - Date.now() - 86_400_000) < 600_000, pinnedUntil);
    await member.send(to, { pin: key(id), type: 2 });
    await bridge.message(id, (m) => !m.pinnedUntil);
  });
  await check(subject, "disappearing message kept and no longer kept", async () => {
    const { key: { id } } = await author.send(to, { text: "keep this" }, { ephemeralExpiration: 86_400 });
    await member.message(id);
    const keep = (keepType) => member.relay(to, { keepInChatMessage: { key: key(id), keepType, timestampMs: Date.now() } });
    await keep(1);
    equal((await bridge.message(id, (m) => m.kept)).expiresAt, null);
    await keep(2);
    ok((await bridge.message(id, (m) => !m.kept)).expiresAt);
  });
  await check(subject, "album", async () => {
    const parent = await author.send(to, { album: { expectedImageCount: 2, expectedVideoCount: 0 } });
    for (const caption of ["one", "two"]) {
      const part = await author.send(to, { image: files["picture.jpg"], caption, albumParentKey: parent.key });
      const got = await bridge.message(part.key.id);
      equal(got.media.caption, caption);
      equal(got.albumId, parent.key.id);
    }
    deepEqual((await bridge.message(parent.key.id, (m) => m.album?.arrived === 2)).album, { images: 2, videos: 0, arrived: 2 });
  });
  await check(subject, "first message after an ad", async () => {
    const ad = { title: "Boots at half price", body: "Only today", mediaType: 1, sourceType: "ad", sourceId: "120208", sourceUrl: "https://fb.me/abc", ctwaClid: "ARAkLk" };
    const contextInfo = { externalAdReply: ad, conversionSource: "FB_Ads", conversionData: Buffer.from([0, 1, 2]), entryPointConversionSource: "ctwa_ad" };
    const { key: { id } } = await author.send(to, { text: "Hello!", contextInfo });
    const got = await bridge.message(id);
    equal(got.content, "Hello!");
    deepEqual(got.referral, {
      sourceType: "ad", sourceId: "120208", sourceUrl: "https://fb.me/abc", headline: "Boots at half price", body: "Only today", mediaType: "image",
      thumbnail: null, ctwaClid: "ARAkLk", entryPoint: "ctwa_ad", payload: "AAEC", conversionSource: "FB_Ads",
    });
  });
}
