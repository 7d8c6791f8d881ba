/** Reads a text as blocks of a small Markdown, line by line: headings, lists, quotes, code, tables, rules. Everything else is a paragraph. */
import { type Inline, inlinesOf } from "./inline.ts"

export interface Item {
  readonly blocks: ReadonlyArray<Block>
}

export type Block =
  | { readonly _tag: "Paragraph"; readonly inlines: ReadonlyArray<Inline> }
  | { readonly _tag: "Heading"; readonly level: number; readonly inlines: ReadonlyArray<Inline> }
  /** `isOpen`: its end has not come (yet). */
  | { readonly _tag: "Code"; readonly language: string; readonly text: string; readonly isOpen: boolean }
  | { readonly _tag: "Quote"; readonly blocks: ReadonlyArray<Block> }
  | { readonly _tag: "List"; readonly isOrdered: boolean; readonly start: number; readonly items: ReadonlyArray<Item> }
  | {
      readonly _tag: "Table"
      readonly head: ReadonlyArray<ReadonlyArray<Inline>>
      readonly rows: ReadonlyArray<ReadonlyArray<ReadonlyArray<Inline>>>
    }
  | { readonly _tag: "Rule" }

/** Quotes and lists within each other; deeper ones are paragraphs. */
const mostDepth = 6
const mostCells = 32

const fence = /^ {0,3}(`{3,}|~{3,})([^`]*)$/
const heading = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/
const rule = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/
const quote = /^ {0,3}> ?/
const item = /^( {0,3})([-*+]|\d{1,9}[.)])(?:[ \t]+(?=\S)|[ \t]*$)/
const dividerCell = /^:?-+:?$/

const isBlank = (line: string): boolean => line.trim() === ""
const indentOf = (line: string): number => line.length - line.trimStart().length
const begins = (line: string): boolean =>
  fence.test(line) || heading.test(line) || rule.test(line) || quote.test(line) || item.test(line)

const cellsOf = (line: string): ReadonlyArray<string> => {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "")
  return inner.split("|", mostCells).map((cell) => cell.trim())
}

/** A run of lines that a block is read of. */
class Lines {
  readonly #lines: ReadonlyArray<string>
  readonly #depth: number
  #at = 0

  constructor(lines: ReadonlyArray<string>, depth: number) {
    this.#lines = lines
    this.#depth = depth
  }

  get #line(): string | undefined {
    return this.#lines[this.#at]
  }

  /** Takes lines while they fit. */
  #take(fits: (line: string) => boolean): Array<string> {
    const from = this.#at
    for (let line = this.#line; line !== undefined && fits(line); line = this.#line) this.#at++
    return this.#lines.slice(from, this.#at)
  }

  #code(mark: string, language: string): Block {
    this.#at++
    const isEnd = (line: string): boolean => {
      const trimmed = line.trim()
      return trimmed.length >= mark.length && trimmed === (mark[0] ?? "").repeat(trimmed.length)
    }
    const text = this.#take((line) => !isEnd(line)).join("\n")
    const isOpen = this.#line === undefined
    this.#at++
    return { _tag: "Code", language: language.trim().slice(0, 40), text, isOpen }
  }

  #quote(): Block {
    const lines = this.#take((line) => quote.test(line)).map((line) => line.replace(quote, ""))
    return { _tag: "Quote", blocks: new Lines(lines, this.#depth + 1).blocks() }
  }

  #item(): Item {
    const first = this.#line ?? ""
    const width = item.exec(first)?.[0].length ?? 2
    const rest = first.slice(width)
    this.#at++
    const lines = this.#take((line) => isBlank(line) || indentOf(line) >= Math.min(width, 2))
    const trailing = lines.length - lines.findLastIndex((line) => !isBlank(line)) - 1
    this.#at -= trailing
    const own = lines.slice(0, lines.length - trailing).map((line) => line.slice(Math.min(width, indentOf(line))))
    return { blocks: new Lines([rest, ...own], this.#depth + 1).blocks() }
  }

  #list(mark: string): Block {
    const isOrdered = /\d/.test(mark)
    const items: Array<Item> = []
    for (let line = this.#line; line !== undefined; line = this.#line) {
      const next = item.exec(line)?.[2]
      if (next === undefined || /\d/.test(next) !== isOrdered || rule.test(line)) break
      items.push(this.#item())
      const blank = this.#take(isBlank).length
      if (blank > 0 && !item.test(this.#line ?? "")) break
    }
    return { _tag: "List", isOrdered, start: isOrdered ? Number.parseInt(mark, 10) : 1, items }
  }

  #table(): Block {
    const head = cellsOf(this.#line ?? "")
    this.#at += 2
    const rows = this.#take((line) => line.includes("|") && !isBlank(line)).map(cellsOf)
    return {
      _tag: "Table",
      head: head.map(inlinesOf),
      rows: rows.map((cells) => head.map((_cell, index) => inlinesOf(cells[index] ?? "")))
    }
  }

  #isTable(): boolean {
    const next = this.#lines[this.#at + 1]
    if (this.#line?.includes("|") !== true || next?.includes("|") !== true || !/^[-:| \t]+$/.test(next)) return false
    return cellsOf(next).every((cell) => dividerCell.test(cell))
  }

  #paragraph(): Block {
    const from = this.#at
    this.#at++
    this.#take((line) => !isBlank(line) && (this.#depth >= mostDepth || !begins(line)) && !this.#isTable())
    return { _tag: "Paragraph", inlines: inlinesOf(this.#lines.slice(from, this.#at).join("\n").trim()) }
  }

  #block(line: string): Block {
    const fenced = fence.exec(line)
    if (fenced?.[1] !== undefined) return this.#code(fenced[1], fenced[2] ?? "")
    const titled = heading.exec(line)
    if (titled?.[1] !== undefined) {
      this.#at++
      return {
        _tag: "Heading",
        level: titled[1].length,
        inlines: inlinesOf((titled[2] ?? "").replace(/\s#{1,6}\s{0,8}$/, ""))
      }
    }
    if (rule.test(line)) {
      this.#at++
      return { _tag: "Rule" }
    }
    if (this.#isTable()) return this.#table()
    if (this.#depth < mostDepth) {
      if (quote.test(line)) return this.#quote()
      const mark = item.exec(line)?.[2]
      if (mark !== undefined) return this.#list(mark)
    }
    return this.#paragraph()
  }

  blocks(): ReadonlyArray<Block> {
    const blocks: Array<Block> = []
    while (this.#at < this.#lines.length) {
      this.#take(isBlank)
      const line = this.#line
      if (line !== undefined) blocks.push(this.#block(line))
    }
    return blocks
  }
}

export const blocksOf = (text: string): ReadonlyArray<Block> => new Lines(text.split(/\r\n?|\n/), 0).blocks()
