/** The pages of the project as data: their blocks of commands, and their links. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** The root of the project. */
export const project = fileURLToPath(new URL("../..", import.meta.url))

export interface Block {
  /** The page's path from the root of the project. */
  readonly page: string
  /** Line of the page on which its text begins, from 1. */
  readonly line: number
  readonly language: string
  /** Without the indentation of its fence. */
  readonly text: string
}

/** One command of a session, and what it prints. */
export interface Exchange {
  readonly command: string
  readonly output: string
}

export const pages: ReadonlyArray<string> = [
  "README.md",
  ...readdirSync(join(project, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`)
    .toSorted()
]

export const textOf = (page: string): string => readFileSync(join(project, page), "utf8")

/** The fenced blocks of a page. */
export const blocksOf = (page: string): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  let open: {
    readonly fence: string
    readonly indent: string
    readonly language: string
    readonly line: number
  } | null = null
  let lines: Array<string> = []
  for (const [index, line] of textOf(page).split("\n").entries()) {
    const [, indent = "", fence = "", language = ""] = /^( *)(`{3,})([^`]*)$/.exec(line) ?? []
    if (open === null) {
      if (fence === "") continue
      open = { fence, indent, language: language.trim(), line: index + 2 }
      lines = []
    } else if (fence.startsWith(open.fence) && language === "") {
      blocks.push({ page, line: open.line, language: open.language, text: lines.join("\n") })
      open = null
    } else lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line)
  }
  if (open !== null) throw new Error(`${page}:${open.line}: the block has no end.`)
  return blocks
}

/** `sh`: lines that are typed; `console`: a session, with prompts and output. */
export const isCommands = ({ language }: Block): boolean => language === "sh" || language === "console"

/** The commands of a session. A command that ends with a backslash goes on in the next line. */
export const exchangesOf = ({ line, page, text }: Block): ReadonlyArray<Exchange> => {
  const exchanges: Array<{ command: string; output: string }> = []
  for (const each of text.split("\n")) {
    const last = exchanges.at(-1)
    if (each.startsWith("$ ")) exchanges.push({ command: each.slice(2), output: "" })
    else if (last === undefined) throw new Error(`${page}:${line}: a session begins with a prompt, '$ '.`)
    else if (last.output === "" && last.command.endsWith("\\")) last.command += `\n${each}`
    else last.output += `${each}\n`
  }
  return exchanges
}

/** The page without its fenced blocks: what is left has the line numbers of the page. */
export const proseOf = (page: string): string =>
  textOf(page).replaceAll(/^( *)(`{3,})[^`\n]*\n[\s\S]*?^ *\2`*$/gm, (block) => block.replaceAll(/[^\n]/g, ""))

/** The name that a heading has as an anchor at the usual hosts of repositories. */
const slugOf = (heading: string): string =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
    .replaceAll(" ", "-")

export const anchorsOf = (page: string): ReadonlySet<string> => {
  const counts = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, heading = ""] of proseOf(page).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const slug = slugOf(heading)
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  for (const [, name = ""] of proseOf(page).matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(name)
  return anchors
}

export interface Link {
  readonly page: string
  readonly line: number
  readonly target: string
}

/** Links of the prose: in line, by reference, and of HTML. Code is no link. */
export const linksOf = (page: string): ReadonlyArray<Link> => {
  const prose = proseOf(page).replaceAll(/(`+)(?:(?!\1)[^\n])+?\1/g, (code) => "`".repeat(code.length))
  const pattern = /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)|^\[[^\]]+\]:\s*(\S+)|(?:href|src)="([^"]+)"/gm
  return Array.from(prose.matchAll(pattern), ({ 1: inline, 2: reference, 3: html, index }) => ({
    page,
    line: prose.slice(0, index).split("\n").length,
    target: inline ?? reference ?? html ?? ""
  }))
}
