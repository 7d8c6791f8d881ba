/** Gemini's other form of a stream is another codec for the client only: an upstream of the wire is still its own wire's. */
import { codecs } from "./Codec.ts"
import { geminiArray } from "./gemini/Codec.ts"
import type { WireCodec } from "./WireCodec.ts"

export const streamedArray: WireCodec = {
  ...geminiArray,
  peer: (wire) => (wire === geminiArray.name ? streamedArray : codecs[wire])
}
