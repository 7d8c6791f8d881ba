/** Small bodies that become large ones when they are decoded, or take long to decode. Each must be refused soon, and the process must go on. */
import { once } from "../../../src/kernel/once.ts"
import type { Arena } from "../Arena.ts"
import { ask, wires } from "../Asks.ts"
import { type Attempt, type AttackClass, pairs } from "../Attempt.ts"
import { adminKey } from "../Arena.ts"
import { codings, zstdRuns } from "../../support/Compressed.ts"

const mebibyte = 1_048_576
const spaces = (mebibytes: number): Buffer => Buffer.alloc(mebibytes * mebibyte, " ")

interface Bomb {
  readonly encoding: string
  readonly body: () => Buffer
}

/** 131,072 blocks of one byte in a window of 8 MiB, of which a poor decoder moves all for each. */
const manyBlocks = (): Buffer => {
  const block = Buffer.from([8, 0, 0, 0x20])
  return Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3]),
    ...Array.from({ length: 131_072 }, () => block),
    Buffer.from([9, 0, 0, 0x20])
  ])
}

const bombs: Readonly<Record<string, Bomb>> = {
  "40 MiB of spaces as gzip": { encoding: "gzip", body: once(() => codings.gzip(spaces(40))) },
  "40 MiB of spaces as deflate": { encoding: "deflate", body: once(() => codings.deflate(spaces(40))) },
  "40 MiB of spaces as br": { encoding: "br", body: once(() => codings.br(spaces(40))) },
  "1.2 GiB of spaces as zstd": { encoding: "zstd", body: once(() => zstdRuns(10_000)) },
  "gzip in gzip": { encoding: "gzip, gzip", body: once(() => codings.gzip(codings.gzip(spaces(40)))) },
  "gzip in br in gzip": {
    encoding: "gzip, br, gzip",
    body: once(() => codings.gzip(codings.br(codings.gzip(spaces(40)))))
  },
  "zstd in gzip": { encoding: "zstd, gzip", body: once(() => codings.gzip(zstdRuns(100_000))) },
  "gzip of empty members": {
    encoding: "gzip",
    body: once(() => Buffer.concat(Array.from({ length: 50_000 }, () => codings.gzip(Buffer.alloc(0)))))
  },
  "zstd of tiny blocks in a large window": { encoding: "zstd", body: once(manyBlocks) },
  "zstd with a window of 2 GiB": {
    encoding: "zstd",
    body: () => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 1, 0, 0])
  },
  "zstd that says it is 2 GiB": {
    encoding: "zstd",
    body: () => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x7f, 1, 0, 0])
  }
}

const mostMs = 3_000

/** Before the first is sent: making one holds up the clock of another. */
const allMade = once(() => Object.values(bombs).map(({ body }) => body().length))

const attempt = (
  door: { readonly name: string; readonly path: string; readonly headers: Readonly<Record<string, string>> },
  name: string,
  { body, encoding }: Bomb
): Attempt => ({
  name: `${door.name}: ${name}`,
  run: async ({ open }: Arena) => {
    allMade()
    const bytes = body()
    const begunMs = performance.now()
    const { status, text } = await open.send({
      method: "POST",
      path: door.path,
      headers: { "content-type": "application/json", ...door.headers, "content-encoding": encoding },
      body: bytes
    })
    const tookMs = performance.now() - begunMs
    if (status !== 400 && status !== 413) return `${status}: ${text.slice(0, 120)}`
    if (tookMs > mostMs) return `it took ${Math.round(tookMs)} ms`
    const { status: ping } = await open.send({ path: "/api/health/ping" })
    return ping === 200 ? null : `the process answers ${ping}`
  }
})

const admin = { authorization: `Bearer ${adminKey}` }
const doors = [
  ...wires.map((wire) => ({ name: wire as string, path: ask(wire, "m0del").path, headers: {} })),
  { name: "management", path: "/api/keys", headers: admin },
  { name: "mcp", path: "/mcp", headers: { ...admin, accept: "application/json, text/event-stream" } },
  { name: "batches", path: "/v1/batches", headers: {} },
  { name: "files", path: "/v1/files", headers: { "content-type": "multipart/form-data; boundary=b" } },
  { name: "a form", path: "/v1/audio/transcriptions", headers: { "content-type": "multipart/form-data; boundary=b" } }
]

export const expanding: AttackClass = {
  name: "bodies that expand",
  atOnce: 2,
  attempts: pairs(doors, Object.entries(bombs)).map(([door, [name, bomb]]) => attempt(door, name, bomb))
}
