/**
 * Keeps the files of one request: in memory as long as they are small, on disk when they are not. The file on disk has no name as soon
 * as it is open: it is gone when the request is over, or the process.
 */
import { open, readdir, rm, unlink, type FileHandle } from "node:fs/promises"
import { join } from "node:path"
import { headBytes, type Upload } from "../../plane/request/Uploads.ts"
import type { BodyShare } from "../../plane/resilience/BodyBudget.ts"

/** Files of a request that stay in memory, all of them together. */
export const memoryBytes = 262_144
const leastSlabBytes = 16_384
/** Suffix of files on systems that keep the name of an open file. */
const suffix = ".upload"

export interface Spool {
  /** Takes the next bytes. False: wait for `onReady` before more is given; `no_room`: the memory for all bodies is used up. */
  readonly write: (chunk: Uint8Array) => boolean | "no_room"
  /** A file begins. */
  readonly begin: () => void
  /** The files, once all of their bytes are kept. */
  readonly finish: (done: (uploads: ReadonlyArray<Upload>) => void) => void
  /** Frees memory and disk; further calls do nothing. */
  readonly discard: () => void
}

export interface SpoolEvents {
  readonly onReady: () => void
  /** The disk failed. */
  readonly onFailure: (cause: unknown) => void
}

interface Range {
  readonly from: number
  to: number
  head: Buffer
}

/** Removes what a gateway left that was killed. */
export const sweep = async (folder: string): Promise<void> => {
  const names = await readdir(folder).catch((): ReadonlyArray<string> => [])
  for (const name of names) if (name.endsWith(suffix)) await rm(join(folder, name), { force: true })
}

async function* fromMemory(bytes: Buffer, chunkBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
}

async function* fromDisk(handle: FileHandle, { from, to }: Range, chunkBytes: number): AsyncGenerator<Buffer> {
  for (let at = from; at < to;) {
    const wanted = Math.min(chunkBytes, to - at)
    const chunk = Buffer.allocUnsafeSlow(wanted)
    let filled = 0
    while (filled < wanted) {
      const { bytesRead } = await handle.read(chunk, filled, wanted - filled, at + filled)
      if (bytesRead === 0) throw new Error("An uploaded file became shorter.")
      filled += bytesRead
    }
    at += wanted
    yield chunk
  }
}

class FormSpool implements Spool {
  readonly #folder: string
  readonly #id: string
  readonly #share: BodyShare
  readonly #events: SpoolEvents
  readonly #ranges: Array<Range> = []
  #total = 0
  /** Bytes that are not on disk. */
  #slab = Buffer.alloc(0)
  #slabBytes = 0
  /** Chunks that came while the slab was being written; no more than one of the socket, since its reader waits. */
  #late: Array<Buffer> = []
  #handle: FileHandle | null = null
  #isFlushing = false
  #isOver = false
  #finished: (() => void) | null = null

  constructor(folder: string, id: string, share: BodyShare, events: SpoolEvents) {
    this.#folder = folder
    this.#id = id
    this.#share = share
    this.#events = events
  }

  readonly begin: Spool["begin"] = () =>
    void this.#ranges.push({ from: this.#total, to: this.#total, head: Buffer.alloc(0) })

  readonly write: Spool["write"] = (chunk) => {
    if (this.#isOver) return true
    this.#total += chunk.length
    this.#remember(this.#ranges.at(-1), chunk)
    if (!this.#isFlushing && this.#slabBytes + chunk.length <= memoryBytes) {
      if (!this.#grown(this.#slabBytes + chunk.length)) return "no_room"
      this.#slab.set(chunk, this.#slabBytes)
      this.#slabBytes += chunk.length
      return true
    }
    this.#late.push(Buffer.from(chunk))
    if (!this.#isFlushing) void this.#flush()
    return false
  }

  readonly finish: Spool["finish"] = (done) => {
    const give = (): void => {
      if (this.#handle !== null) this.#slab = Buffer.alloc(0)
      done(this.#ranges.map(this.#uploadOf))
    }
    if (this.#isFlushing) this.#finished = give
    else if (this.#handle === null || this.#slabBytes === 0) give()
    else {
      this.#finished = give
      void this.#flush()
    }
  }

  readonly discard: Spool["discard"] = () => {
    if (this.#isOver) return
    this.#isOver = true
    if (!this.#isFlushing) this.#close()
  }

  #close(): void {
    const open = this.#handle
    this.#handle = null
    this.#slab = Buffer.alloc(0)
    this.#slabBytes = 0
    this.#late = []
    if (open !== null) void open.close().catch(() => {})
  }

  async #opened(): Promise<FileHandle> {
    const path = join(this.#folder, this.#id + suffix)
    const file = await open(path, "wx+", 0o600)
    // Where a name cannot be taken from an open file, the sweep of the next start takes it.
    await unlink(path).catch(() => {})
    return file
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true
    try {
      const file = (this.#handle ??= await this.#opened())
      await file.writeFile(this.#slab.subarray(0, this.#slabBytes))
      this.#slabBytes = 0
      while (this.#late.length > 0) {
        const bytes = Buffer.concat(this.#late)
        this.#late = []
        await file.writeFile(bytes)
      }
      this.#isFlushing = false
      if (this.#isOver) return this.#close()
      if (this.#finished === null) this.#events.onReady()
      else this.#finished()
    } catch (cause) {
      this.#isFlushing = false
      if (this.#isOver) return this.#close()
      this.#events.onFailure(cause)
    }
  }

  #grown(neededBytes: number): boolean {
    if (neededBytes <= this.#slab.length) return true
    const bytes = Math.min(Math.max(2 * this.#slab.length, leastSlabBytes, neededBytes), memoryBytes)
    if (!this.#share.take(bytes - this.#slab.length)) return false
    const larger = Buffer.allocUnsafeSlow(bytes)
    this.#slab.copy(larger, 0, 0, this.#slabBytes)
    this.#slab = larger
    return true
  }

  readonly #uploadOf = (range: Range): Upload => ({
    bytes: range.to - range.from,
    head: range.head,
    chunks: (chunkBytes) =>
      this.#handle === null
        ? fromMemory(this.#slab.subarray(range.from, range.to), chunkBytes)
        : fromDisk(this.#handle, range, chunkBytes)
  })

  #remember(range: Range | undefined, chunk: Uint8Array): void {
    if (range === undefined) return
    range.to = this.#total
    if (range.head.length >= headBytes) return
    range.head = Buffer.concat([range.head, chunk.subarray(0, headBytes - range.head.length)])
  }
}

export const makeSpool = (folder: string, id: string, share: BodyShare, events: SpoolEvents): Spool =>
  new FormSpool(folder, id, share, events)
