/** Files of a request: in memory or on disk, whole and readable again, and gone at the end. */
import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { makeSpool, memoryBytes, sweep } from "../../../../src/entry/forms/Spool.ts"
import type { Upload } from "../../../../src/plane/request/Uploads.ts"
import type { BodyShare } from "../../../../src/plane/resilience/BodyBudget.ts"

const share = (mostBytes = Number.POSITIVE_INFINITY): BodyShare => {
  let held = 0
  return {
    take: (bytes) => {
      if (held + bytes > mostBytes) return false
      held += bytes
      return true
    },
    release: () => {}
  }
}

const inFolder = async (run: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-spool-"))
  try {
    await run(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Kept {
  readonly uploads: ReadonlyArray<Upload>
  readonly discard: () => void
}

/** Writes files in pieces, and waits where the spool says so. */
const keep = async (folder: string, files: ReadonlyArray<Buffer>, pieceBytes: number): Promise<Kept> => {
  let ready = (): void => {}
  let fail = (_cause: unknown): void => {}
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject
  })
  failed.catch(() => {})
  const spool = makeSpool(folder, "one", share(), { onReady: () => ready(), onFailure: (cause) => fail(cause) })
  for (const file of files) {
    spool.begin()
    for (let at = 0; at < file.length; at += pieceBytes) {
      const waiting = new Promise<void>((resolve) => {
        ready = resolve
      })
      if (spool.write(file.subarray(at, at + pieceBytes)) === false) await Promise.race([waiting, failed])
    }
  }
  const uploads = await Promise.race([new Promise<ReadonlyArray<Upload>>((resolve) => spool.finish(resolve)), failed])
  return { uploads, discard: spool.discard }
}

const read = async (upload: Upload, chunkBytes: number): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of upload.chunks(chunkBytes)) chunks.push(chunk)
  for (const chunk of chunks.slice(0, -1)) assert.strictEqual(chunk.length, chunkBytes)
  return Buffer.concat(chunks)
}

const bytesOf = (length: number, seed: number): Buffer =>
  Buffer.from(Array.from({ length }, (_, i) => (i * 31 + seed) % 251))

describe("the spool of a request", () => {
  it("gives back every file as it came, as often as it is asked, in memory and on disk", async () => {
    const size = fc.oneof(fc.nat(1_000), fc.constantFrom(memoryBytes - 1, memoryBytes, memoryBytes + 1, 400_000))
    await fc.assert(
      fc.asyncProperty(
        fc.array(size, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(777, 65_536, 300_000),
        async (sizes, pieceBytes) =>
          inFolder(async (folder) => {
            const files = sizes.map(bytesOf)
            const { discard, uploads } = await keep(folder, files, pieceBytes)
            assert.deepStrictEqual(readdirSync(folder), [])
            for (const [index, file] of files.entries()) {
              const upload = uploads[index]
              assert.isDefined(upload)
              assert.strictEqual(upload!.bytes, file.length)
              assert.isTrue(upload!.head.equals(file.subarray(0, 4_096)))
              assert.isTrue((await read(upload!, 65_535)).equals(file))
              assert.isTrue((await read(upload!, 1_000)).equals(file))
            }
            discard()
          })
      ),
      { numRuns: 25, seed: 7 }
    )
  })

  it("takes memory for what it holds only, and says when there is none", () => {
    const events = { onReady: () => {}, onFailure: () => {} }
    const spool = makeSpool("/nowhere", "one", share(20_000), events)
    spool.begin()
    assert.isTrue(spool.write(Buffer.alloc(16_000)))
    assert.strictEqual(spool.write(Buffer.alloc(16_000)), "no_room")
  })

  it("tells of a disk that fails", async () => {
    const failure = await keep("/nowhere/at/all", [Buffer.alloc(300_000)], 65_536).catch((cause: unknown) => cause)
    assert.instanceOf(failure, Error)
    assert.strictEqual((failure as NodeJS.ErrnoException).code, "ENOENT")
  })

  it("does not read on what was discarded", async () =>
    inFolder(async (folder) => {
      const { discard, uploads } = await keep(folder, [Buffer.alloc(400_000)], 65_536)
      discard()
      const failure = await read(uploads[0]!, 65_535).catch((cause: unknown) => cause)
      assert.isTrue(failure instanceof Error || (failure as Buffer).length === 0)
    }))

  it("removes at the start what a killed gateway left", async () =>
    inFolder(async (folder) => {
      writeFileSync(join(folder, "a.upload"), "x")
      writeFileSync(join(folder, "other"), "x")
      await sweep(folder)
      assert.deepStrictEqual(readdirSync(folder), ["other"])
      await sweep(join(folder, "missing"))
    }))
})
