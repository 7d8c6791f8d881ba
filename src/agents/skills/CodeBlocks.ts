/** The code blocks of a page: fenced, each with the word behind its fence. Pure; one pass over the lines. */

export interface CodeBlock {
  /** Number from 1, in the order of the page. */
  readonly number: number
  /** The first word behind the opening fence, in lower case; empty: none. */
  readonly language: string
  readonly text: string
}

/** Longer blocks, and further ones, are no blocks. */
export const blockLimits = { chars: 65_536, blocks: 1_000 } as const

const opening = /^ {0,3}(`{3,32}|~{3,32})[ \t]*([^\s`]{0,32})/

/** A fence is closed by one of the same sign that is at least as long, or by the end of the page (https://spec.commonmark.org/0.31.2/#fenced-code-blocks). */
export const codeBlocks = (page: string): ReadonlyArray<CodeBlock> => {
  const blocks: Array<CodeBlock> = []
  let fence = ""
  let language = ""
  let lines: Array<string> = []
  const end = (): void => {
    const text = lines.join("\n")
    if (text.length <= blockLimits.chars) blocks.push({ number: blocks.length + 1, language, text })
    fence = ""
    lines = []
  }
  for (const line of page.split(/\r?\n/)) {
    if (blocks.length >= blockLimits.blocks) return blocks
    if (fence === "") {
      const [, sign = "", word = ""] = opening.exec(line) ?? []
      fence = sign
      language = word.toLowerCase()
      continue
    }
    const closing = line.trim()
    const isClosed =
      closing.length >= fence.length && closing.length <= 100 && closing === fence.charAt(0).repeat(closing.length)
    if (isClosed) end()
    else lines.push(line)
  }
  if (fence !== "") end()
  return blocks
}

const javaScript: ReadonlySet<string> = new Set(["js", "javascript", "mjs"])

export const isJavaScript = ({ language }: Pick<CodeBlock, "language">): boolean => javaScript.has(language)
