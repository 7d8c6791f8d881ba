/**
 * Finds the length of a recording by its first bytes. Null where they do not have it: its container has it elsewhere, or
 * not at all.
 *
 * WAV: https://www.loc.gov/preservation/digital/formats/fdd/fdd000001.shtml, FLAC: https://www.rfc-editor.org/rfc/rfc9639,
 * MP3: http://www.mp3-tech.org/programmer/frame_header.html
 */

const ascii = (head: Buffer, at: number, length: number): string => head.toString("latin1", at, at + length)

/** Chunks of a RIFF file until its data. */
const mostChunks = 64

const wav = (head: Buffer, bytes: number): number | null => {
  let bytesPerSecond = 0
  let at = 12
  for (let chunk = 0; chunk < mostChunks && at + 8 <= head.length; chunk += 1) {
    const size = head.readUInt32LE(at + 4)
    const name = ascii(head, at, 4)
    if (name === "fmt " && at + 20 <= head.length) bytesPerSecond = head.readUInt32LE(at + 16)
    if (name === "data") {
      // What is written as it is recorded does not know its size.
      const there = bytes - at - 8
      return bytesPerSecond === 0 ? null : Math.min(size === 0 ? there : size, there) / bytesPerSecond
    }
    at += 8 + size + (size % 2)
  }
  return null
}

const flac = (head: Buffer): number | null => {
  if (head.length < 26) return null
  const rate = head.readUIntBE(18, 3) >> 4
  const samples = (head.readUInt8(21) & 0x0f) * 2 ** 32 + head.readUInt32BE(22)
  return rate === 0 || samples === 0 ? null : samples / rate
}

const v1Rates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const v2Rates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const sampleRates = [44_100, 48_000, 32_000]

/** A frame of layer III at `at`. With a Xing header the number of frames is known, else all frames are taken to be like the first. */
const mp3Frame = (head: Buffer, at: number, bytes: number): number | null => {
  if (at + 4 > head.length || head.readUInt16BE(at) >> 5 !== 0x7ff) return null
  const second = head.readUInt8(at + 1)
  const third = head.readUInt8(at + 2)
  const version = (second >> 3) & 3
  const isV1 = version === 3
  const kbps = (isV1 ? v1Rates : v2Rates)[third >> 4] ?? 0
  const rate = (sampleRates[(third >> 2) & 3] ?? 0) / (isV1 ? 1 : version === 2 ? 2 : 4)
  if (version === 1 || ((second >> 1) & 3) !== 1 || kbps === 0 || rate === 0) return null
  const isMono = head.readUInt8(at + 3) >> 6 === 3
  const xing = at + 4 + (isV1 ? (isMono ? 17 : 32) : isMono ? 9 : 17)
  const hasFrames =
    /^(?:Xing|Info)$/.test(ascii(head, xing, 4)) && xing + 12 <= head.length && head.readUInt8(xing + 7) & 1
  return hasFrames ? (head.readUInt32BE(xing + 8) * (isV1 ? 1152 : 576)) / rate : (bytes - at) / (kbps * 125)
}

const mp3 = (head: Buffer, bytes: number): number | null => {
  if (ascii(head, 0, 3) !== "ID3" || head.length < 10) return mp3Frame(head, 0, bytes)
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (head.readUInt8(at) & 0x7f), 0)
  return mp3Frame(head, 10 + size, bytes)
}

/** Seconds. `bytes`: of the whole file. */
export const audioSeconds = (head: Buffer, bytes: number): number | null => {
  const seconds =
    ascii(head, 0, 4) === "RIFF" && ascii(head, 8, 4) === "WAVE"
      ? wav(head, bytes)
      : ascii(head, 0, 4) === "fLaC"
        ? flac(head)
        : mp3(head, bytes)
  const rounded = Math.round((seconds ?? 0) * 1000) / 1000
  return Number.isFinite(rounded) && rounded > 0 ? rounded : null
}
