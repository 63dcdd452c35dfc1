// Voice notes, recorded in the browser.
import { find, toast } from "./base.js";
import { chat, eachChat } from "./chat.js";
import { offer as offerFiles } from "./files.js";
import { reply, textField, toField, unreply } from "./composer.js";
import * as outbox from "./outbox.js";
import { announce } from "./pending.js";

let button, bar; // elements of the open chat
const types = ["audio/ogg;codecs=opus", "audio/webm;codecs=opus"];
const type = navigator.mediaDevices?.getUserMedia && window.MediaRecorder && types.find((one) => MediaRecorder.isTypeSupported(one));
let now; // the recording: recorder, chunks, stream, context, level, ms until the last pause, since (the start or the last resume; undefined while it rests)
let ending = false; // whether a recording becomes a file
let frame; // of the next drawing

async function start() {
  const { section } = chat, own = button;
  own.disabled = true;
  try {
    const stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true } });
    if (chat.section !== section) return stream.getTracks().forEach((track) => track.stop());
    const recorder = new MediaRecorder(stream, { mimeType: type, audioBitsPerSecond: 32000 });
    now = { recorder, stream, chunks: [], ms: 0, since: performance.now(), ...meter(stream) };
    recorder.addEventListener("dataavailable", (event) => now?.chunks.push(event.data));
    stream.getAudioTracks()[0].addEventListener("ended", () => {
      rest();
      for (const name of ["pause", "resume"]) find(`[data-${name}]`, bar).hidden = true;
      find("[data-finish]", bar).focus();
      toast("The microphone was disconnected. You can still send what was recorded.", true);
    });
    recorder.start(1000);
    show("Recording");
    find("[data-finish]", bar).focus();
  } catch (failure) {
    toast(failure.name === "NotFoundError" ? "No microphone was found." : failure.name === "NotAllowedError"
      ? "Microphone access is blocked. Allow it in the browser’s settings for this site, then try again."
      : "The microphone can’t be used. Another program may be using it.", true);
  }
  own.disabled = false;
}

// meter returns a function that measures the loudness of a stream.
function meter(stream) {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  analyser.fftSize = 512;
  context.createMediaStreamSource(stream).connect(analyser);
  const wave = new Float32Array(analyser.fftSize);
  return { context, level: () => {
    analyser.getFloatTimeDomainData(wave);
    return Math.min(1, 4 * Math.sqrt(wave.reduce((sum, one) => sum + one * one, 0) / wave.length));
  } };
}

const length = () => now.ms + (now.since === undefined ? 0 : performance.now() - now.since);

// rest stops counting the length.
function rest() {
  now.ms = length();
  now.since = undefined;
}

// minutes formats a length.
function minutes(ms) {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

// draw shows the length and the loudness, in each frame while the recording runs.
function draw() {
  cancelAnimationFrame(frame);
  if (!now || now.isEnding) return;
  const runs = now.since !== undefined, text = minutes(length()), shown = find("[data-length]", bar);
  if (shown.textContent !== text) shown.textContent = text;
  find("meter", bar).value = runs ? now.level() : 0;
  if (runs) frame = requestAnimationFrame(draw);
}

function show(state) {
  const paused = state === "Paused";
  bar.hidden = false;
  find("form.say").hidden = true;
  bar.classList.toggle("paused", paused);
  announce(state);
  find("[data-pause]", bar).hidden = paused;
  find("[data-resume]", bar).hidden = !paused;
  draw();
}

function pause() {
  rest();
  now.recorder.pause();
  show("Paused");
  find("[data-resume]", bar).focus();
}

function resume() {
  now.since = performance.now();
  now.recorder.resume();
  show("Recording");
  find("[data-pause]", bar).focus();
}

// end stops recording and returns the audio.
async function end() {
  const { recorder, stream, context } = now;
  const ms = length();
  now.isEnding = true;
  if (recorder.state !== "inactive") {
    const stopped = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }));
    recorder.stop();
    await stopped;
  }
  stream.getTracks().forEach((track) => track.stop());
  context.close();
  const blob = new Blob(now.chunks, { type });
  now = undefined;
  bar.hidden = true;
  find("[data-length]", bar).textContent = minutes(0);
  find("form.say").hidden = false;
  toField();
  return { blob, ms };
}

// cancel discards the recording. The page can be left at once.
function cancel() {
  now.isCancelled = true;
  return end();
}

// finish sends the voice note, or offers to send it later.
async function finish(later) {
  ending = true;
  try {
    const { blob, ms } = await end();
    if (ms < 500) return toast("That was too short for a voice note.", true);
    const sound = type.startsWith("audio/webm") ? (await import("./ogg.js")).oggOf(new Uint8Array(await blob.arrayBuffer())) : blob;
    const file = new File([sound], "voice-note.ogg", { type: "audio/ogg; codecs=opus" });
    if (later) {
      offerFiles([Object.assign(file, { voice: true })]);
      find("#files .when").open = true;
      return;
    }
    const answered = reply();
    unreply();
    outbox.add({
      files: [file], ptt: true, text: "",
      name: "Voice note", size: minutes(ms), picture: find("svg", button).cloneNode(true), reply: answered,
    });
  } catch (failure) {
    toast(failure.message, true);
  } finally {
    ending = false;
  }
}

// offer shows the microphone if the text is empty, otherwise the send button.
function offer() {
  const empty = !textField().value.trim() && find("#editing").hidden;
  button.hidden = !empty;
  find("[data-say]").hidden = empty;
}

// isRecording reports whether a recording would be lost if the chat was left.
export const isRecording = () => ending || Boolean(now && !now.isCancelled);

eachChat(() => {
  button = find("[data-record]");
  bar = find("#recording");
  if (!button || !type) return;
  const on = (selector, act) => find(selector, bar).addEventListener("click", () => now?.isEnding || act());
  offer();
  textField().addEventListener("input", offer);
  new MutationObserver(offer).observe(find("#editing"), { attributeFilter: ["hidden"] });
  button.addEventListener("click", start);
  on("[data-pause]", pause);
  on("[data-resume]", resume);
  on("[data-cancel]", cancel);
  on("[data-finish]", () => finish(false));
  on("[data-when]", () => finish(true));
});
if (type) addEventListener("beforeunload", (event) => isRecording() && event.preventDefault());
