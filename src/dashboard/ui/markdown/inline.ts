/**
 * Reads the marks within a line of Markdown: code, stress, links. One pass with a stack of open marks; whatever has no partner stays text. What
 * is searched ahead is remembered, so a text of marks alone takes no longer than any other.
 */
export type Inline =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Code"; readonly text: string }
  | { readonly _tag: "Strong" | "Stress" | "Struck"; readonly inlines: ReadonlyArray<Inline> }
  /** `host` is where it leads, as the browser reads the address. */
  | { readonly _tag: "Link"; readonly url: string; readonly host: string; readonly inlines: ReadonlyArray<Inline> }
  /** A picture on another host: it is named and never loaded. */
  | { readonly _tag: "Picture"; readonly text: string; readonly url: string }

type Mark = "**" | "__" | "*" | "_" | "~~" | "[" | "!["

interface Open {
  readonly mark: Mark | null
  readonly inlines: Array<Inline>
}

const mostOpen = 24
const mostUrlChars = 2_048
const tags = { "**": "Strong", __: "Strong", "*": "Stress", _: "Stress", "~~": "Struck" } as const

/** The address of a link that may be followed: `http` and `https`, without a name and password in it. Null: it stays text. */
export const linkOf = (text: string): { readonly url: string; readonly host: string } | null => {
  if (text.length > mostUrlChars || !/^https?:\/\//i.test(text) || /[\s\p{Cc}\p{Bidi_Control}]/u.test(text)) return null
  try {
    const { host, href, password, protocol, username } = new URL(text)
    const isPlain = username === "" && password === "" && host !== ""
    return isPlain && /^https?:$/.test(protocol) ? { url: href, host } : null
  } catch {
    return null
  }
}

const append = (inlines: Array<Inline>, text: string): void => {
  if (text === "") return
  const last = inlines.at(-1)
  if (last?._tag === "Text") inlines[inlines.length - 1] = { _tag: "Text", text: last.text + text }
  else inlines.push({ _tag: "Text", text })
}

const isWordAt = (text: string, at: number): boolean => /[\p{L}\p{N}]/u.test(text[at] ?? "")

class Reader {
  readonly #text: string
  readonly #stack: Array<Open> = [{ mark: null, inlines: [] }]
  /** The next place of a text from some place on, by the text; null: there is none any more. */
  readonly #ahead = new Map<string, number | null>()
  #at = 0
  /** Start of the text that is not in the tree yet. */
  #from = 0

  constructor(text: string) {
    this.#text = text
  }

  get #top(): Open {
    return this.#stack.at(-1) ?? { mark: null, inlines: [] }
  }

  #next(what: string, from: number): number | null {
    const known = this.#ahead.get(what)
    if (known === null || (known !== undefined && known >= from)) return known
    const found = this.#text.indexOf(what, from)
    this.#ahead.set(what, found === -1 ? null : found)
    return found === -1 ? null : found
  }

  #flush(): void {
    append(this.#top.inlines, this.#text.slice(this.#from, this.#at))
  }

  #skip(length: number): void {
    this.#at += length
    this.#from = this.#at
  }

  /** Gives the marks above a place back to the text. */
  #unwindTo(depth: number): void {
    while (this.#stack.length > depth) {
      const { inlines, mark } = this.#stack.pop() ?? this.#top
      append(this.#top.inlines, mark ?? "")
      for (const inline of inlines) {
        if (inline._tag === "Text") append(this.#top.inlines, inline.text)
        else this.#top.inlines.push(inline)
      }
    }
  }

  #code(): boolean {
    const run = /`+/y
    run.lastIndex = this.#at
    const ticks = run.exec(this.#text)?.[0] ?? "`"
    if (ticks.length > 8) {
      this.#at += ticks.length
      return true
    }
    const end = this.#next(ticks, this.#at + ticks.length)
    if (end === null || this.#text[end + ticks.length] === "`") {
      this.#at += ticks.length
      return true
    }
    this.#flush()
    this.#top.inlines.push({ _tag: "Code", text: this.#text.slice(this.#at + ticks.length, end) })
    this.#at = end
    this.#skip(ticks.length)
    return true
  }

  #stress(mark: Exclude<Mark, "[" | "![">): boolean {
    const before = this.#text[this.#at - 1] ?? " "
    const after = this.#text[this.#at + mark.length] ?? " "
    const isWithinWord =
      mark.startsWith("_") && isWordAt(this.#text, this.#at - 1) && isWordAt(this.#text, this.#at + mark.length)
    const depth = this.#stack.findLastIndex((open) => open.mark === mark)
    if (depth > 0 && !/\s/.test(before) && !isWithinWord) {
      this.#flush()
      this.#unwindTo(depth + 1)
      const { inlines } = this.#stack.pop() ?? this.#top
      this.#top.inlines.push({ _tag: tags[mark], inlines })
      this.#skip(mark.length)
      return true
    }
    const opens = !/\s/.test(after) && !isWithinWord && this.#stack.length < mostOpen
    if (!opens) return false
    this.#open(mark)
    return true
  }

  #open(mark: Mark): void {
    this.#flush()
    this.#stack.push({ mark, inlines: [] })
    this.#skip(mark.length)
  }

  /** Closes, at a `]`, the innermost bracket where an address follows. */
  #link(): boolean {
    const depth = this.#stack.findLastIndex(({ mark }) => mark === "[" || mark === "![")
    if (depth <= 0) return false
    const end = this.#text[this.#at + 1] === "(" ? this.#next(")", this.#at + 2) : null
    const isNear = end !== null && end - this.#at <= mostUrlChars
    const address = isNear
      ? (this.#text
          .slice(this.#at + 2, end)
          .trim()
          .split(/\s/, 1)[0] ?? "")
      : ""
    const link = address.includes("](") ? null : linkOf(address)
    this.#flush()
    this.#unwindTo(depth + 1)
    if (link === null || end === null) {
      this.#unwindTo(depth)
      this.#from = this.#at
      return false
    }
    const { inlines, mark } = this.#stack.pop() ?? this.#top
    const isNested = this.#stack.some((open) => open.mark === "[")
    if (mark === "![") this.#top.inlines.push({ _tag: "Picture", text: plainOf(inlines), url: link.url })
    else if (isNested) append(this.#top.inlines, plainOf(inlines))
    else this.#top.inlines.push({ _tag: "Link", ...link, inlines })
    this.#at = end
    this.#skip(1)
    return true
  }

  #bareUrl(): boolean {
    if (isWordAt(this.#text, this.#at - 1) || this.#stack.some(({ mark }) => mark === "[" || mark === "!["))
      return false
    const pattern = /https?:\/\/[^\s<>"'`()[\]{}|\\^]{1,2040}/iy
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0].replace(/[.,;:!?*_~]{1,64}$/, "")
    const link = found === undefined ? null : linkOf(found)
    if (found === undefined) return false
    if (link === null) {
      this.#at += found.length
      return true
    }
    this.#flush()
    this.#top.inlines.push({ _tag: "Link", ...link, inlines: [{ _tag: "Text", text: found }] })
    this.#skip(found.length)
    return true
  }

  #escaped(): boolean {
    if (!/[!-/:-@[-`{-~]/.test(this.#text[this.#at + 1] ?? "")) return false
    this.#flush()
    append(this.#top.inlines, this.#text[this.#at + 1] ?? "")
    this.#skip(2)
    return true
  }

  #step(letter: string): boolean {
    const two = this.#text.slice(this.#at, this.#at + 2)
    switch (letter) {
      case "\\":
        return this.#escaped()
      case "`":
        return this.#code()
      case "*":
      case "_":
        if (two === "**" || two === "__") return this.#stress(two)
        return this.#stress(letter)
      case "~":
        return two === "~~" && this.#stress("~~")
      case "!":
        if (two !== "![" || this.#stack.length >= mostOpen) return false
        this.#open("![")
        return true
      case "[":
        if (this.#stack.length >= mostOpen) return false
        this.#open("[")
        return true
      case "]":
        return this.#link()
      case "h":
      case "H":
        return this.#bareUrl()
      default:
        return false
    }
  }

  read(): ReadonlyArray<Inline> {
    while (this.#at < this.#text.length) {
      if (!this.#step(this.#text[this.#at] ?? "")) this.#at++
    }
    this.#flush()
    this.#unwindTo(1)
    return this.#top.inlines
  }
}

export const inlinesOf = (text: string): ReadonlyArray<Inline> => new Reader(text).read()

/** The letters of inlines, without their marks. */
export const plainOf = (inlines: ReadonlyArray<Inline>): string =>
  inlines
    .map((inline) =>
      inline._tag === "Text" || inline._tag === "Code" || inline._tag === "Picture"
        ? inline.text
        : plainOf(inline.inlines)
    )
    .join("")
