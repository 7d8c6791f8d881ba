/** Frames of HTTP/2 by hand, for what no library would send. */

export const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")

export const frameTypes = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8
} as const
export const flags = { endStream: 1, endHeaders: 4 } as const

export const frame = (type: number, flag: number, id: number, content: Buffer): Buffer => {
  const head = Buffer.alloc(9)
  head.writeUIntBE(content.length, 0, 3)
  head[3] = type
  head[4] = flag
  head.writeUInt32BE(id, 5)
  return Buffer.concat([head, content])
}

/** A header of HPACK without a table. */
export const literal = (key: string, value: string): Buffer =>
  Buffer.concat([Buffer.from([0, key.length]), Buffer.from(key), Buffer.from([value.length]), Buffer.from(value)])

/** A whole GET. */
export const requestFrame = (id: number, authority: string, ...more: ReadonlyArray<Buffer>): Buffer =>
  frame(
    frameTypes.headers,
    flags.endStream | flags.endHeaders,
    id,
    Buffer.concat([Buffer.from([0x82, 0x87, 0x84]), literal(":authority", authority), ...more])
  )

export const headersFrame = (id: number, flag: number, ...headers: ReadonlyArray<readonly [string, string]>): Buffer =>
  frame(
    frameTypes.headers,
    flag | flags.endHeaders,
    id,
    Buffer.concat(headers.map(([key, value]) => literal(key, value)))
  )

/** Types of the whole frames in what a client sent. */
export const typesOf = (sent: Buffer): ReadonlyArray<number> => {
  const types: Array<number> = []
  for (let at = preface.length; at + 9 <= sent.length; at += 9 + sent.readUIntBE(at, 3)) types.push(sent[at + 3] ?? 0)
  return types
}

/** Codes of the GOAWAY frames in what came. */
export const goawaysOf = (bytes: Buffer): ReadonlyArray<number> => {
  const codes: Array<number> = []
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    if (bytes[at + 3] === frameTypes.goaway) codes.push(bytes.readUInt32BE(at + 13))
  }
  return codes
}
