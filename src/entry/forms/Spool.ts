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

export const makeSpool = (folder: string, id: string, share: BodyShare, events: SpoolEvents): Spool => {
  const ranges: Array<Range> = []
  let total = 0
  /** Bytes that are not on disk. */
  let slab = Buffer.alloc(0)
  let slabBytes = 0
  /** Chunks that came while the slab was being written; no more than one of the socket, since its reader waits. */
  let late: Array<Buffer> = []
  let handle: FileHandle | null = null
  let isFlushing = false
  let isOver = false
  let finished: (() => void) | null = null

  const close = (): void => {
    const open = handle
    handle = null
    slab = Buffer.alloc(0)
    slabBytes = 0
    late = []
    if (open !== null) void open.close().catch(() => {})
  }

  const opened = async (): Promise<FileHandle> => {
    const path = join(folder, id + suffix)
    const file = await open(path, "wx+", 0o600)
    // Where a name cannot be taken from an open file, the sweep of the next start takes it.
    await unlink(path).catch(() => {})
    return file
  }

  const flush = async (): Promise<void> => {
    isFlushing = true
    try {
      const file = (handle ??= await opened())
      await file.writeFile(slab.subarray(0, slabBytes))
      slabBytes = 0
      while (late.length > 0) {
        const bytes = Buffer.concat(late)
        late = []
        await file.writeFile(bytes)
      }
      isFlushing = false
      if (isOver) return close()
      if (finished === null) events.onReady()
      else finished()
    } catch (cause) {
      isFlushing = false
      if (isOver) return close()
      events.onFailure(cause)
    }
  }

  const grown = (neededBytes: number): boolean => {
    if (neededBytes <= slab.length) return true
    const bytes = Math.min(Math.max(2 * slab.length, leastSlabBytes, neededBytes), memoryBytes)
    if (!share.take(bytes - slab.length)) return false
    const larger = Buffer.allocUnsafeSlow(bytes)
    slab.copy(larger, 0, 0, slabBytes)
    slab = larger
    return true
  }

  const uploadOf = (range: Range): Upload => ({
    bytes: range.to - range.from,
    head: range.head,
    chunks: (chunkBytes) =>
      handle === null
        ? fromMemory(slab.subarray(range.from, range.to), chunkBytes)
        : fromDisk(handle, range, chunkBytes)
  })

  const remember = (range: Range | undefined, chunk: Uint8Array): void => {
    if (range === undefined) return
    range.to = total
    if (range.head.length >= headBytes) return
    range.head = Buffer.concat([range.head, chunk.subarray(0, headBytes - range.head.length)])
  }

  return {
    begin: () => void ranges.push({ from: total, to: total, head: Buffer.alloc(0) }),
    write: (chunk) => {
      if (isOver) return true
      total += chunk.length
      remember(ranges.at(-1), chunk)
      if (!isFlushing && slabBytes + chunk.length <= memoryBytes) {
        if (!grown(slabBytes + chunk.length)) return "no_room"
        slab.set(chunk, slabBytes)
        slabBytes += chunk.length
        return true
      }
      late.push(Buffer.from(chunk))
      if (!isFlushing) void flush()
      return false
    },
    finish: (done) => {
      const give = (): void => {
        if (handle !== null) slab = Buffer.alloc(0)
        done(ranges.map(uploadOf))
      }
      if (isFlushing) finished = give
      else if (handle === null || slabBytes === 0) give()
      else {
        finished = give
        void flush()
      }
    },
    discard: () => {
      if (isOver) return
      isOver = true
      if (!isFlushing) close()
    }
  }
}
