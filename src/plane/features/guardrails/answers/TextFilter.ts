/**
 * Replaces personal data in what an answer says. An item (an event, a whole answer) waits while its text, or that of an item before it, may
 * still turn out to be personal data: items leave in the order in which they came.
 */
import type { ValueEdit } from "../../../../wire/json/DeepSplice.ts"
import { type Channel, edited, editsIn, makeChannel, pushIn, type TextEdit } from "./Channel.ts"
import type { Dependent, Form, Piece, Reading } from "./Reading.ts"
import { allOf, Meter, type Steps } from "./Steps.ts"
import { type Finding, type TextGuard, usualWindowChars } from "./TextGuard.ts"

/** Sends an item, with the edits to it. */
export type Release<A> = (item: A, edits: ReadonlyArray<ValueEdit>) => void

export interface TextFilter<A> {
  /** `bytes`: what the item takes in memory. */
  readonly add: (item: A, reading: Reading | null, bytes: number) => void
  /** The same in steps. Nothing else may be added before the last. */
  readonly addIn: (item: A, reading: Reading | null, bytes: number) => Steps<void>
  /** Nothing follows: everything leaves. */
  readonly flush: () => void
  /** Items that wait. */
  readonly waiting: () => number
}

export interface TextFilterOptions<A> {
  readonly guard: TextGuard
  /** Receives each finding, once. */
  readonly found: (finding: Finding) => void
  readonly release: Release<A>
  readonly maxWaitingBytes?: number
  readonly maxWaiting?: number
}

/** Most bytes that wait, which is seldom more than a word. */
export const maxWaitingBytes = 4 * 1_048_576
export const maxWaiting = 4_096
/** Channels that are remembered: the parts of one answer. The one that has spoken first goes first. */
const maxChannels = 4_096

/** A piece on its way, and what is replaced in it so far. */
interface Fragment {
  readonly piece: Piece
  /** Position at which it begins in its channel. */
  readonly from: number
  readonly edits: Array<TextEdit>
}

interface OpenChannel {
  readonly name: string
  readonly channel: Channel
  readonly form: Form
  /** All edits so far. */
  readonly edits: Array<TextEdit>
  /** Fragments of which something is not settled. */
  open: Array<readonly [Fragment, Entry<unknown>]>
  isOver: boolean
  /** The last text that repeated it, and what became of it. */
  repeated: { readonly text: string; readonly edits: ReadonlyArray<TextEdit> } | null
}

interface Entry<A> {
  readonly item: A
  readonly bytes: number
  readonly fragments: Array<Fragment>
  readonly repeats: ReadonlyArray<ValueEdit>
  readonly dependents: ReadonlyArray<Dependent>
  /** Fragments that are not settled. */
  open: number
}

const laneOf = (channel: string): string => channel.slice(0, channel.indexOf("/"))

/** Makes the edits of a value whose text is changed, and of other forms of the same. */
const valueEdits = (piece: Piece, edits: ReadonlyArray<TextEdit>): ReadonlyArray<ValueEdit> =>
  edits.length === 0
    ? none
    : [{ path: piece.path, json: JSON.stringify(edited(piece.text, edits)) }, ...(piece.beside ?? none)]

const none: ReadonlyArray<never> = []

/** A filter, and what waits in it until its texts are settled. */
class Filtering<A> {
  readonly #found: (finding: Finding) => void
  readonly #guard: TextGuard
  readonly #release: Release<A>
  readonly #mostBytes: number
  readonly #most: number
  readonly #meter: Meter
  readonly #channels = new Map<string, OpenChannel>()
  readonly #lanes = new Map<string, Set<string>>()
  /** Channels with something that is not settled. */
  readonly #active = new Map<string, OpenChannel>()
  queue: Array<Entry<A>> = []
  #bytes = 0

  constructor(options: TextFilterOptions<A>) {
    const { found, guard, release } = options
    this.#found = found
    this.#guard = guard
    this.#release = release
    this.#mostBytes = options.maxWaitingBytes ?? maxWaitingBytes
    this.#most = options.maxWaiting ?? maxWaiting
    this.#meter = new Meter(this.#guard.windowChars ?? usualWindowChars)
  }

  /** Gives each fragment its part of an edit: the first one says what takes the place of all. */
  #distribute(open: OpenChannel, edit: TextEdit): void {
    open.edits.push(edit)
    let text = edit.text
    for (const [{ edits, from, piece }] of open.open) {
      const start = Math.max(edit.start - from, 0)
      const end = Math.min(edit.end - from, piece.text.length)
      if (start >= end) continue
      edits.push({ start, end, text })
      text = ""
    }
  }

  #openChannel(name: string, form: Form): OpenChannel {
    const open: OpenChannel = {
      name,
      channel: makeChannel(form, this.#guard, (edit, finding) => {
        this.#found(finding)
        this.#distribute(open, edit)
      }),
      form,
      edits: [],
      open: [],
      isOver: false,
      repeated: null
    }
    return open
  }

  #channelOf(name: string, form: Form): OpenChannel {
    const known = this.#channels.get(name)
    if (known !== undefined && !known.isOver && known.form === form) return known
    if (known !== undefined) this.#settle(known, true)
    else if (this.#channels.size >= maxChannels) this.#forgetOldest()
    const open = this.#openChannel(name, form)
    this.#channels.set(name, open)
    const lane = this.#lanes.get(laneOf(name))
    if (lane === undefined) this.#lanes.set(laneOf(name), new Set([name]))
    else lane.add(name)
    return open
  }

  #forgetOldest(): void {
    for (const oldest of this.#channels.values()) {
      this.#settle(oldest, true)
      this.#channels.delete(oldest.name)
      const lane = this.#lanes.get(laneOf(oldest.name))
      lane?.delete(oldest.name)
      if (lane?.size === 0) this.#lanes.delete(laneOf(oldest.name))
      return
    }
  }

  /** Takes out the fragments about which everything is decided. */
  #settle(open: OpenChannel, isFlushed: boolean): void {
    if (isFlushed) open.channel.flush()
    if (open.open.length === 0) return
    const to = open.channel.settledTo()
    let settled = 0
    for (const [fragment, entry] of open.open) {
      if (fragment.from + fragment.piece.text.length > to) break
      entry.open -= 1
      settled += 1
    }
    if (settled > 0) open.open = open.open.slice(settled)
    if (open.open.length === 0) this.#active.delete(open.name)
  }

  *#addPiece(piece: Piece, entry: Entry<A>): Steps<OpenChannel | null> {
    if (piece.channel === null) {
      entry.fragments.push({
        piece,
        from: 0,
        edits: [...(yield* editsIn(piece.text, piece.form, this.#guard, this.#found))]
      })
      return null
    }
    const open = this.#channelOf(piece.channel, piece.form)
    const fragment: Fragment = { piece, from: open.channel.chars(), edits: [] }
    entry.fragments.push(fragment)
    entry.open += 1
    open.open.push([fragment, entry])
    this.#active.set(open.name, open)
    yield* pushIn(open.channel, piece.text, this.#guard)
    return open
  }

  /** Edits a text that repeats its channel, to the same as the channel has become; nothing is left open in it. */
  *#repeat(piece: Piece): Steps<ReadonlyArray<ValueEdit>> {
    const open = this.#channels.get(piece.channel ?? "")
    if (open === undefined) return valueEdits(piece, yield* editsIn(piece.text, piece.form, this.#guard, this.#found))
    this.#settle(open, true)
    const { repeated } = open
    if (repeated?.text === piece.text) return valueEdits(piece, repeated.edits)
    const isSame = open.channel.chars() === piece.text.length
    const said = isSame ? edited(piece.text, open.edits) : piece.text
    let isNew = false
    const rest = yield* editsIn(said, piece.form, this.#guard, (finding) => {
      isNew = true
      if (!isSame) this.#found(finding)
    })
    const whole = isNew ? edited(said, rest) : said
    const edits = whole === piece.text ? none : [{ start: 0, end: piece.text.length, text: whole }]
    open.repeated = { text: piece.text, edits }
    return valueEdits(piece, edits)
  }

  /**
   * One channel speaks after the other: what another one of the lane has said is not waited for any more, nor any text once a tool is called.
   * Arguments are waited for: several calls may be written at once, and each string has an end of its own.
   */
  #flushOthers(touched: ReadonlySet<string>, hasCall: boolean): void {
    const speaking = new Set([...touched].map(laneOf))
    for (const [name, open] of this.#active) {
      if (open.form === "text" && !touched.has(name) && (hasCall || speaking.has(laneOf(name))))
        this.#settle(open, true)
    }
  }

  /** A channel, or all of a lane. */
  #finish(ended: string): void {
    for (const name of this.#lanes.get(ended) ?? [ended]) {
      const open = this.#channels.get(name)
      if (open === undefined) continue
      this.#settle(open, true)
      open.isOver = true
    }
  }

  leave(): void {
    let left = 0
    for (const entry of this.queue) {
      if (entry.open > 0) break
      left += 1
      this.#bytes -= entry.bytes
      const edits = entry.fragments.flatMap((fragment) => valueEdits(fragment.piece, fragment.edits))
      const changed = entry.dependents.filter(({ channel }) => (this.#channels.get(channel)?.edits.length ?? 0) > 0)
      this.#release(entry.item, [...edits, ...entry.repeats, ...changed])
    }
    if (left > 0) this.queue = this.queue.slice(left)
  }

  settleAll(): void {
    for (const open of this.#active.values()) this.#settle(open, true)
  }

  *addIn(item: A, reading: Reading | null, size: number): Steps<void> {
    if (reading === null) {
      this.queue.push({ item, bytes: size, fragments: [], repeats: none, dependents: none, open: 0 })
    } else {
      const touched = new Set(reading.pieces.flatMap(({ channel }) => channel ?? []))
      if (touched.size > 0 || reading.calls.length > 0) this.#flushOthers(touched, reading.calls.length > 0)
      const repeats: Array<ValueEdit> = []
      for (const piece of reading.repeats) {
        if (this.#meter.isOver(piece.text.length)) yield
        repeats.push(...(yield* this.#repeat(piece)))
      }
      const fragments: Array<Fragment> = []
      const entry: Entry<A> = {
        item,
        bytes: size,
        fragments,
        repeats,
        dependents: reading.dependents,
        open: 0
      }
      const written = new Set<OpenChannel>()
      for (const piece of reading.pieces) {
        if (this.#meter.isOver(piece.text.length)) yield
        const open = yield* this.#addPiece(piece, entry)
        if (open !== null) written.add(open)
      }
      for (const open of written) this.#settle(open, false)
      for (const name of reading.ends) this.#finish(name)
      this.queue.push(entry)
    }
    this.#bytes += size
    if (this.#bytes > this.#mostBytes || this.queue.length > this.#most) this.settleAll()
    this.leave()
  }
}

export const makeTextFilter = <A>(options: TextFilterOptions<A>): TextFilter<A> => {
  const filtering = new Filtering(options)
  return {
    add: (item, reading, size) => allOf(filtering.addIn(item, reading, size)),
    addIn: (item, reading, size) => filtering.addIn(item, reading, size),
    flush: () => {
      filtering.settleAll()
      filtering.leave()
    },
    waiting: () => filtering.queue.length
  }
}
