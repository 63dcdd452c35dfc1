// Voice notes and other audio: one player, so that one plays at a time and continues while messages
// refresh.
import { all, find, toast } from "./base.js";
import { chat, dressers, eachChat } from "./chat.js";

const template = find("#player");
const audio = new Audio();
const speeds = [1, 1.5, 2];
const places = new Map(); // position of paused audio, in seconds
const lengths = new Map(); // of loaded audio
const waves = new Map(); // waveforms
let current; // path of the current or last audio

audio.preload = "auto";

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
const soundsOf = (path) => all("[data-sound]").filter((one) => one.dataset.sound === path);
const isOn = (path) => path === current && !audio.paused;
const placeOf = (path) => (path === current ? audio.currentTime : places.get(path)) || 0;
const lengthOf = (sound) => lengths.get(sound.dataset.sound) || Number(sound.dataset.seconds) || 0;
const speed = () => Number(localStorage.getItem("speed")) || 1;

export const pause = () => audio.pause();

// dress adds the player to the audio of a message.
function dress(message) {
  for (const sound of all("[data-sound]", message)) {
    if (!template || find(".voice-player", sound)) continue;
    find("audio", sound).hidden = true; // the browser's own player
    sound.append(template.content.cloneNode(true));
    find("input", sound).setAttribute("aria-label", "Position in " + sound.dataset.name.toLowerCase());
    draw(sound);
    paint(sound);
    if (sound.matches(".voice") && Number(sound.dataset.size) < 250_000) seen.observe(sound);
  }
}

// paint shows the position.
function paint(sound) {
  const path = sound.dataset.sound, at = placeOf(path), length = lengthOf(sound);
  const player = find(".voice-player", sound), range = find("input", sound);
  player.classList.toggle("playing", isOn(path));
  find("[data-play]", sound).setAttribute("aria-label", isOn(path) ? "Pause" : "Play " + sound.dataset.name.toLowerCase());
  range.max = length || 1;
  range.value = at;
  range.setAttribute("aria-valuetext", `${clock(at)} of ${clock(length)}`);
  find(".done", sound).style.clipPath = `inset(0 ${100 - (length ? Math.min(100, (at / length) * 100) : 0)}% 0 0)`;
  find(".at", sound).textContent = clock(at || isOn(path) ? at : length);
  find("[data-speed]", sound).textContent = speed() + "×";
  find("[data-speed]", sound).setAttribute("aria-label", `Playback speed ${speed()}×`);
}

const paintAll = () => soundsOf(current).forEach(paint);

function play(path) {
  if (path !== current) {
    audio.pause();
    if (current) places.set(current, audio.ended ? 0 : audio.currentTime);
    const before = current;
    current = path;
    audio.src = path;
    audio.currentTime = places.get(path) || 0;
    soundsOf(before).forEach(paint);
  }
  audio.playbackRate = speed();
  audio.play().catch((failure) => {
    if (failure.name !== "AbortError") toast("This audio can’t be played here. Download it from its menu.", true);
    paintAll();
  });
  soundsOf(path).forEach((sound) => wave(sound));
}

function seek(sound, to) {
  const path = sound.dataset.sound, at = Math.max(0, Math.min(to, lengthOf(sound)));
  if (path === current) audio.currentTime = at;
  else places.set(path, at);
  soundsOf(path).forEach(paint);
}

// Waveforms: computed once when a voice note becomes visible or plays.

const bars = 48;

function draw(sound) {
  const drawing = waves.get(sound.dataset.sound);
  for (const line of all(".track path", sound)) line.setAttribute("d", typeof drawing === "string" ? drawing : "M.5 10H47.5");
}

async function wave(sound) {
  const path = sound.dataset.sound;
  if (waves.has(path) || !sound.matches(".voice")) return;
  waves.set(path, undefined); // loading
  try {
    const response = await fetch(path);
    if (!response.ok) throw new Error(response.statusText);
    const decoded = await new OfflineAudioContext(1, 1, 16000).decodeAudioData(await response.arrayBuffer());
    waves.set(path, drawingOf(decoded.getChannelData(0)));
    lengths.set(path, decoded.duration);
  } catch {
    waves.delete(path); // a plain bar stays; the next play retries
  }
  soundsOf(path).forEach((one) => (draw(one), paint(one)));
}

function drawingOf(samples) {
  const size = samples.length / bars;
  const loud = Array.from({ length: bars }, (_, bar) => {
    let sum = 0;
    const from = Math.floor(bar * size), to = Math.floor((bar + 1) * size);
    for (let i = from; i < to; i++) sum += samples[i] ** 2;
    return Math.sqrt(sum / Math.max(1, to - from));
  });
  const most = Math.max(...loud, 0.001);
  return loud.map((one, bar) => {
    const half = Math.max(0.4, (one / most) * 9).toFixed(1);
    return `M${bar + 0.5} ${10 - half}V${10 + Number(half)}`;
  }).join("");
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    seen.unobserve(entry.target);
    wave(entry.target);
  }
});

// Playing

function follow() {
  paintAll();
  if (!audio.paused) requestAnimationFrame(follow);
}

for (const type of ["pause", "seeked"]) audio.addEventListener(type, paintAll);
audio.addEventListener("play", follow);
audio.addEventListener("durationchange", () => {
  if (Number.isFinite(audio.duration)) lengths.set(current, audio.duration);
  paintAll();
});

// The next voice note plays after this one.
audio.addEventListener("ended", () => {
  const next = soundsOf(current)[0]?.closest(".msg")?.nextElementSibling;
  audio.currentTime = 0;
  const sound = next && find(".voice[data-sound]", next);
  if (sound) play(sound.dataset.sound);
  else paintAll();
});

document.addEventListener("click", (event) => {
  const sound = event.target.closest("[data-sound]");
  if (!sound) return;
  const path = sound.dataset.sound;
  if (event.target.closest("[data-play]")) isOn(path) ? pause() : play(path);
  if (event.target.closest("[data-speed]")) {
    localStorage.setItem("speed", speeds[(speeds.indexOf(speed()) + 1) % speeds.length]);
    audio.playbackRate = speed();
    all("[data-sound]").forEach(paint);
  }
});

document.addEventListener("input", (event) => {
  const sound = event.target.closest("[data-sound]");
  if (sound) seek(sound, Number(event.target.value));
});

// Keys: arrows seek five seconds, the space bar plays.
document.addEventListener("keydown", (event) => {
  const sound = event.target.matches("[data-sound] input") && event.target.closest("[data-sound]");
  const by = { ArrowLeft: -5, ArrowDown: -5, ArrowRight: 5, ArrowUp: 5 }[event.key];
  if (!sound || (!by && event.key !== " ")) return;
  event.preventDefault();
  if (by) seek(sound, placeOf(sound.dataset.sound) + by);
  else find("[data-play]", sound).click();
});

dressers.push(dress);
eachChat(() => {
  dress(chat.list);
  return pause; // nothing else shows what plays
});
