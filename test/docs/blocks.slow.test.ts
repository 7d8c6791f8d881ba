/**
 * Every block of commands of README.md and of the pages under docs is run as it is printed, by a shell, against the built program. What it presumes
 * is in `presumed.ts`. Sessions are compared with what is printed (`UPDATE_DOCS=1` writes them anew).
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll } from "vitest"
import { program } from "../cli/support.ts"
import { type Block, blocksOf, exchangesOf, isCommands, pages, project, textOf } from "./Pages.ts"
import { mostMarked, type Presumed, presumed } from "./presumed.ts"
import { alike } from "./alike.ts"
import * as World from "./World.ts"

const { serve } = program()

const commandBlocks = new Map(pages.map((page) => [page, blocksOf(page).filter(isCommands)] as const))
const all = [...commandBlocks.values()].flat()

const presumedOf = ({ page, text }: Block): Presumed | undefined =>
  presumed[page]?.blocks.find(({ begins }) => text.startsWith(begins))

const isThere = (name: string): boolean =>
  (process.env["PATH"] ?? "").split(":").some((folder) => existsSync(join(folder, name)))

/** Why a block is not run; null: it is. */
const reasonOf = (block: Block): string | null => {
  const { marked = null, needs = [] } = presumedOf(block) ?? {}
  const missing = needs.filter((name) => !isThere(name))
  return marked ?? (missing.length === 0 ? null : `this machine has no ${missing.join(" and no ")}`)
}

const marked = all.filter((block) => reasonOf(block) !== null)
const ran = { blocks: 0, commands: 0 }

const where = ({ line, page }: Block): string => `${page}:${line}`

/** Variables that a block names and the page does not set. */
const lacking = ({ text }: Block, world: World.World): Readonly<Record<string, string>> => {
  const known: Readonly<Record<string, string>> = {
    GATEWAY_ADMIN_KEY: world.adminKey,
    GATEWAY_API_KEY: world.adminKey,
    KEY: world.adminKey,
    GATEWAY_URL: world.url,
    GATEWAY: world.url
  }
  return Object.fromEntries(
    Object.entries(known).filter(([name]) => new RegExp(`\\$\\{?${name}\\b`).test(text) && !(name in world.variables))
  )
}

const isExpected = (failed: string, ends: NonNullable<Presumed["ends"]>): boolean =>
  Object.entries(ends).some(([command, codes]) =>
    [codes].flat().some((code) => failed.startsWith(`${code} ${command}`))
  )

/** What is wrong with a block; null: nothing. */
const runBlock = Effect.fnUntraced(function* (block: Block, world: World.World) {
  const { before, ends = {}, shows, types = [], varies = [] } = presumedOf(block) ?? {}
  if (before !== undefined) yield* Effect.promise(() => before(world))
  const own = lacking(block, world)
  Object.assign(world.variables, own)
  const parts =
    block.language === "console" ? exchangesOf(block) : [{ command: block.text, output: null as string | null }]
  const wrong: Array<string> = []
  let update = block.text
  for (const { command, output } of parts) {
    const { failed, stderr, stdout } = yield* world.run(command, types)
    const bad = failed.filter((each) => !isExpected(each, ends))
    if (bad.length > 0) wrong.push(`${where(block)}: ${bad.join("\n")}\n${stdout}${stderr}`)
    if (shows !== undefined && !shows.test(stdout))
      wrong.push(`${where(block)} does not show ${shows}:\n${stdout}${stderr}`)
    if (/\(FiberFailure\)|^\s+at .*\.[cm]?js:\d+|syntax error|command not found/m.test(stderr + stdout))
      wrong.push(`${where(block)}: ${stderr}${stdout}`)
    ran.commands += command.split("\n").filter((line) => /^[^#\s]/.test(line)).length
    if (output === null || alike(output, stdout, varies)) continue
    update = update.replace(output.trimEnd(), () => stdout.trimEnd())
    wrong.push(`${where(block)} does not show what it prints:\n${stdout}\nThe page has:\n${output}`)
  }
  for (const name of Object.keys(own)) delete world.variables[name]
  ran.blocks += 1
  if (process.env["UPDATE_DOCS"] === "1" && update !== block.text)
    writeFileSync(
      join(project, block.page),
      textOf(block.page).replace(block.text, () => update)
    )
  return wrong
})

describe.concurrent("blocks of commands", () => {
  for (const [page, blocks] of commandBlocks) {
    const toRun = blocks.filter((block) => reasonOf(block) === null)
    if (toRun.length === 0) continue
    it.scopedLive(
      `of ${page} work as they are printed`,
      () =>
        Effect.gen(function* () {
          const world = yield* World.make(serve, presumed[page]?.environment ?? {})
          yield* Effect.promise(async () => presumed[page]?.before?.(world))
          const wrong = yield* Effect.forEach(toRun, (block) => runBlock(block, world))
          assert.strictEqual(wrong.flat().join("\n\n"), "")
        }),
      { timeout: 400_000 }
    )
  }
})

describe("the table of what blocks presume", () => {
  it("names blocks that there are", () => {
    const lost = Object.entries(presumed).flatMap(([page, { blocks }]) =>
      blocks
        .filter(({ begins }) => !(commandBlocks.get(page) ?? []).some(({ text }) => text.startsWith(begins)))
        .map(({ begins }) => `${page} has no block of commands that begins with ${begins}`)
    )
    assert.deepStrictEqual(lost, [])
  })

  it("marks few blocks, each with a reason", () => {
    assert.isAtMost(marked.length, mostMarked)
    assert.isAbove(all.length, 60)
    for (const block of marked) assert.isAbove(reasonOf(block)?.length ?? 0, 15, where(block))
  })
})

afterAll(() => {
  const pagesRun = [...commandBlocks.values()].filter((blocks) => blocks.length > 0).length
  const reasons = marked.map((block) => `\n  not run: ${where(block)}: ${reasonOf(block)}`).join("")
  process.stdout.write(
    `\nBlocks of commands on ${pagesRun} pages: ${ran.blocks} run (${ran.commands} commands), ${marked.length} marked.${reasons}\n`
  )
})
