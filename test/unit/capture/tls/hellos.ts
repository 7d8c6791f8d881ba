/** ClientHellos that no TLS library would send. */

const vector = (lengthSize: 1 | 2 | 3, content: Buffer): Buffer => {
  const length = Buffer.alloc(lengthSize)
  length.writeUIntBE(content.length, 0, lengthSize)
  return Buffer.concat([length, content])
}

const extension = (type: number, content: Buffer): Buffer => {
  const head = Buffer.alloc(2)
  head.writeUInt16BE(type)
  return Buffer.concat([head, vector(2, content)])
}

const record = (content: Buffer): Buffer => Buffer.concat([Buffer.from([22, 3, 1]), vector(2, content)])

export interface Greeting {
  /** Sent as it is. */
  readonly serverName: string | null
  readonly protocols: ReadonlyArray<string>
}

/** In one record. */
export const helloOf = ({ protocols, serverName }: Greeting): Buffer => {
  const named =
    serverName === null
      ? []
      : [extension(0, vector(2, Buffer.concat([Buffer.from([0]), vector(2, Buffer.from(serverName, "latin1"))])))]
  const spoken =
    protocols.length === 0
      ? []
      : [extension(16, vector(2, Buffer.concat(protocols.map((name) => vector(1, Buffer.from(name, "latin1"))))))]
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 7),
    vector(1, Buffer.alloc(32, 9)),
    vector(2, Buffer.from([0x13, 0x01, 0x13, 0x02])),
    vector(1, Buffer.from([0])),
    vector(2, Buffer.concat([...named, ...spoken]))
  ])
  return record(Buffer.concat([Buffer.from([1]), vector(3, body)]))
}

/** The same hello in records of at most `size` bytes. */
export const recordsOf = (hello: Buffer, size: number): Buffer => {
  const content = hello.subarray(5)
  const records: Array<Buffer> = []
  for (let at = 0; at < content.length; at += size) records.push(record(content.subarray(at, at + size)))
  return Buffer.concat(records)
}
