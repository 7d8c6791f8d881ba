/** Links, anchors and blocks of README.md, ARCHITECTURE.md, CONTRIBUTING.md and the pages under docs. Nothing on the internet is asked. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, statSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { parse as parseYaml } from "yaml"
import { program } from "../../src/cli/program.ts"
import { anchorsOf, type Block, blocksOf, exchangesOf, type Link, linksOf, pages, project, proseOf } from "./Pages.ts"

const papers = [...pages, "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
const links = papers.flatMap(linksOf)

/** What is wrong with a link; null: nothing. */
const problemOf = ({ page, target }: Link): string | null => {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return URL.canParse(target) ? null : "is no URL"
  const [path = "", anchor = null] = target.split("#")
  const file = path === "" ? page : normalize(join(dirname(page), decodeURIComponent(path)))
  if (file.startsWith("..")) return "leads out of the project"
  if (!existsSync(join(project, file))) return "leads to no file"
  if (anchor === null) return null
  if (!file.endsWith(".md") || statSync(join(project, file)).isDirectory()) return "has an anchor in what has none"
  return anchorsOf(file).has(decodeURIComponent(anchor)) ? null : `leads to no heading of ${file}`
}

const where = ({ line, page }: Block | Link): string => `${page}:${line}`

const blocks = pages.flatMap(blocksOf)

/** What is wrong with the text of a block that is no command; null: nothing. */
const malformed = ({ language, text }: Block): string | null => {
  try {
    if (language === "json") for (const each of /^\{.*\}$/m.test(text) ? text.split("\n") : [text]) JSON.parse(each)
    if (language === "yaml") parseYaml(text)
    return null
  } catch (error) {
    return String(error)
  }
}

/** First words of commands, other names of them included. */
const firstWords: ReadonlySet<string> = new Set(program.commands.flatMap(({ aliases, name }) => aliases.concat(name)))

describe("links of the pages", () => {
  it("lead to files and headings that there are", () => {
    const dead = links.flatMap((link) => {
      const problem = problemOf(link)
      return problem === null ? [] : [`${where(link)}: ${link.target} ${problem}`]
    })
    assert.deepStrictEqual(dead, [])
    assert.isAbove(links.length, 100)
    process.stdout.write(`\nLinks of ${papers.length} pages: ${links.length} looked at.\n`)
  })

  it("are found wrong where they are", () => {
    const at = (target: string): Link => ({ page: "docs/mcp.md", line: 1, target })
    assert.strictEqual(problemOf(at("keys.md")), null)
    assert.strictEqual(problemOf(at("../README.md#routing")), null)
    assert.strictEqual(problemOf(at("none.md")), "leads to no file")
    assert.strictEqual(problemOf(at("keys.md#none")), "leads to no heading of docs/keys.md")
    assert.strictEqual(problemOf(at("../../none.md")), "leads out of the project")
    assert.strictEqual(problemOf(at("https://")), "is no URL")
  })
})

describe("blocks of the pages", () => {
  it("say what language they are in, so that no command goes untested", () => {
    const unsaid = blocks.filter(
      ({ language }) => language === "" || ["bash", "shell", "shellsession"].includes(language)
    )
    assert.deepStrictEqual(
      unsaid.map((block) => `${where(block)}: name it sh, console, text or its format`),
      []
    )
    const hidden = blocks.filter(
      ({ language, page, text }) =>
        language === "text" && page !== "docs/first-hour.md" && /^(?:\$ |gateway [a-z]|curl |npm |npx )/m.test(text)
    )
    assert.deepStrictEqual(hidden.map(where), [])
  })

  it("can be read as what they are", () => {
    const wrong = blocks.flatMap((block) => {
      const problem = malformed(block)
      return problem === null ? [] : [`${where(block)}: ${problem}`]
    })
    assert.deepStrictEqual(wrong, [])
    for (const block of blocks) if (block.language === "console") assert.isNotEmpty(exchangesOf(block), where(block))
  })
})

describe("commands in the text of the pages", () => {
  it("are commands that there are", () => {
    const named = pages.flatMap((page) =>
      Array.from(
        proseOf(page).matchAll(/`gateway ((?:[a-z][a-z0-9-]*)(?: [a-z][a-z0-9-]*)*)[^`\n]*`/g),
        ([, words = ""]) => ({
          page,
          words: words.split(" ")
        })
      )
    )
    const unknown = named.filter(
      ({ page, words: [first = ""] }) =>
        !firstWords.has(first) && !["help", "version", "setup-"].includes(first) && page !== "docs/first-hour.md"
    )
    assert.deepStrictEqual(
      unknown.map(({ page, words }) => `${page}: gateway ${words.join(" ")}`),
      []
    )
    assert.isAbove(named.length, 300)
  })
})
