/**
 * The messages in a stream of WebSocket frames (RFC 6455, section 5): texts as lines, of others how long they are. What clients send is masked
 * frame by frame, so that the frames themselves show neither the text nor a secret in it. Linear; keeps nothing but the state of one frame.
 */

const newline = Buffer.from("\n")
const maxHeaderBytes = 14

const text = 1
const binary = 2
const firstControl = 8

/** Computes the bytes of a frame's header, as far as its first two show. */
const headerBytes = (second: number): number => {
  const length = second & 0x7f
  return 2 + (length === 126 ? 2 : length === 127 ? 8 : 0) + ((second & 0x80) === 0 ? 0 : 4)
}

const payloadBytes = (header: Buffer): number => {
  const length = (header[1] ?? 0) & 0x7f
  if (length === 126) return header.readUInt16BE(2)
  return length === 127 ? Number(header.readBigUInt64BE(2)) : length
}

export class WebSocketText {
  readonly #add: (piece: Buffer) => void
  readonly #header = Buffer.alloc(maxHeaderBytes)
  #headerLength = 0
  /** Bytes of the frame's payload that are still to come; null: its header is not whole. */
  #left: number | null = null
  #mask: Buffer | null = null
  #maskAt = 0
  #isLast = false
  #opcode = 0
  /** True when the message that goes on over several frames is text. */
  #isText = false
  #otherBytes = 0

  /** `add` gets what is to be kept, as it comes. */
  constructor(add: (piece: Buffer) => void) {
    this.#add = add
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#left === null) at = this.#readHeader(chunk, at)
      else {
        const end = Math.min(chunk.length, at + this.#left)
        this.#take(chunk.subarray(at, end))
        this.#left -= end - at
        at = end
      }
      if (this.#left === 0) this.#endFrame()
    }
  }

  #readHeader(chunk: Buffer, from: number): number {
    let at = from
    while (at < chunk.length) {
      this.#header[this.#headerLength] = chunk[at] ?? 0
      this.#headerLength += 1
      at += 1
      if (this.#headerLength >= 2 && this.#headerLength === headerBytes(this.#header[1] ?? 0)) {
        this.#beginFrame()
        return at
      }
    }
    return at
  }

  #beginFrame(): void {
    const [first = 0, second = 0] = this.#header
    const length = this.#headerLength
    this.#headerLength = 0
    this.#left = payloadBytes(this.#header)
    this.#mask = (second & 0x80) === 0 ? null : Buffer.from(this.#header.subarray(length - 4, length))
    this.#maskAt = 0
    this.#isLast = (first & 0x80) !== 0
    this.#opcode = first & 0x0f
    // With a reserved bit the payload is written in a way that only an extension knows.
    if (this.#opcode === text || this.#opcode === binary) {
      this.#isText = this.#opcode === text && (first & 0x70) === 0
      this.#otherBytes = 0
    }
  }

  #take(payload: Buffer): void {
    if (this.#opcode >= firstControl) return
    if (this.#isText) this.#add(this.#unmasked(payload))
    else this.#otherBytes += payload.length
  }

  #unmasked(payload: Buffer): Buffer {
    const mask = this.#mask
    if (mask === null) return payload
    const plain = Buffer.allocUnsafe(payload.length)
    for (let at = 0; at < payload.length; at++) plain[at] = (payload[at] ?? 0) ^ (mask[(this.#maskAt + at) & 3] ?? 0)
    this.#maskAt = (this.#maskAt + payload.length) & 3
    return plain
  }

  #endFrame(): void {
    this.#left = null
    if (!this.#isLast || this.#opcode >= firstControl) return
    this.#add(this.#isText ? newline : Buffer.from(`[${this.#otherBytes} bytes of binary data]\n`))
  }
}
