// Writes a model in whisper.cpp's format that has not learned anything: its shape, words that
// nobody says, and no weights, as whisper.cpp's own tests have it.
import { writeFileSync } from "node:fs";

const numbers = (...list) => Buffer.from(Int32Array.from(list).buffer);

// Words that the decoder looks up.
const words = Array.from({ length: 50257 }, (_, i) => ` w${i}`);
[" ", " -", " '", "-", "'"].forEach((word, i) => (words[i] = word));

const mel = 80, frequencies = 201;
writeFileSync(process.argv[2], Buffer.concat([
  numbers(0x67676d6c),
  numbers(51865, 1500, 64, 1, 4, 448, 64, 1, 4, mel, 1), // words, then the encoder's and the decoder's shape
  numbers(mel, frequencies), Buffer.alloc(4 * mel * frequencies),
  numbers(words.length), ...words.flatMap((word) => [numbers(Buffer.byteLength(word)), Buffer.from(word)]),
]));
