/**
 * The accessibility tree of every view, kept in trees/ and compared: what a screen reader is told changes only where it is meant to.
 * `UPDATE_TREES=1` writes them anew. Figures, times and ids are taken out, so that they are the same from run to run.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, beforeAll, describe, it } from "vitest"
import { entries } from "../../src/dashboard/shell/entries.ts"
import { fileOf, furnish, type Furnished, shown } from "./views.ts"
import { browserPath, world } from "./world.ts"

const folder = fileURLToPath(new URL("trees/", import.meta.url))
const isUpdate = process.env["UPDATE_TREES"] === "1"

const months = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
const days = "Mon|Tue|Wed|Thu|Fri|Sat|Sun"

/** What differs from run to run, and what stands for it. */
const varying: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{16,}\b|\b(?=[a-f]*\d)[0-9a-f]{8}\b/g, "ID"],
  [/\bgw_[A-Za-z0-9_-]+/g, "KEY"],
  [/\/tmp\/[\w-]+/g, "FOLDER"],
  [/Mozilla\/[^"…]*…?/g, "BROWSER"],
  [new RegExp(`\\b(?:${days})[a-z]*,? `, "g"), ""],
  [
    new RegExp(`\\b\\d{1,2} (?:${months})[a-z]*\\.?(?:,? \\d{4})?|\\b(?:${months})[a-z]* \\d{1,2}(?:, \\d{4})?`, "g"),
    "DAY"
  ],
  [new RegExp(`\\b(?:${months})[a-z]* \\d{4}`, "g"), "MONTH"],
  [/\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[AP]M)?/g, "TIME"],
  [/\b(?:in )?\d+ (?:sec|min|hr|hour|day)[a-z]*\.?(?: ago)?|\b(?:just )?now\b/g, "TIME"],
  // What is near is told as a time from now: "in 20 min." in place of a day and a time.
  [/\bDAY, TIME\b/g, "TIME"],
  [/\b\d[\d.,]* ?(?:ms|s|min|h|d)\b/g, "SPAN"],
  [/\b\d[\d.,]* ?(?:B|KB|MB|GB|KiB|MiB|GiB)\b/g, "SIZE"],
  // The level of a heading is no figure.
  [/(?<!level=)\d[\d.,]*/g, "0"],
  // What has not been measured for a minute is a dash.
  [/- strong: (?:"0"|\$?0%?|SPAN|–)$/gm, "- strong: FIGURE"]
]

/** Children of one kind that are told; what follows in a long list is like them. */
const mostAlike = 8

/** Leaves out what follows the first children of one kind. */
const folded = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const alike = new Map<number, { readonly role: string; readonly count: number }>()
  let hiddenBelow: number | null = null
  return lines.flatMap((line) => {
    const indent = line.search(/\S/)
    if (hiddenBelow !== null && indent > hiddenBelow) return []
    hiddenBelow = null
    for (const deeper of [...alike.keys()].filter((each) => each > indent)) alike.delete(deeper)
    const role = /^\s*- ([a-z]+)/.exec(line)?.[1] ?? ""
    const before = alike.get(indent)
    const count = before?.role === role ? before.count + 1 : 1
    alike.set(indent, { role, count })
    if (count <= mostAlike) return [line]
    hiddenBelow = indent
    return count === mostAlike + 1 ? [`${" ".repeat(indent)}- …`] : []
  })
}

/** Leaves out what a region says of this machine: what was built and may be done here. */
const ofMachine = '- region "Transparent mode":'
const withoutMachine = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  const at = lines.findIndex((line) => line.trim() === ofMachine)
  if (at < 0) return lines
  const indent = lines[at]?.search(/\S/) ?? 0
  const rest = lines.slice(at + 1)
  const end = rest.findIndex((line) => line.search(/\S/) <= indent)
  return [...lines.slice(0, at + 1), ...(end < 0 ? [] : rest.slice(end))]
}

const steady = (tree: string): string =>
  folded(
    withoutMachine(
      varying
        .reduce((text, [pattern, word]) => text.replace(pattern, word), tree)
        .split("\n")
        // Addresses of links are told by their own tests.
        .filter((line) => line.trim() !== "" && !/^\s*- \/url:/.test(line))
        // Time after the last call is shown where there was some.
        .filter((line) => !/^\s*- listitem "End SPAN"$/.test(line))
    )
  ).join("\n")

/** Rows of the audit are as many as the tests before have made; these are the same in each run. */
const shownAs = (address: string): string => (address === "system/audit" ? "system/audit?action=keys.create" : address)

describe.skipIf(browserPath === null)("the accessibility tree", () => {
  // Without a path no program of this machine is found.
  const gateway = world({ PATH: "/nowhere" })
  let furnished: Furnished

  beforeAll(async () => {
    furnished = await furnish(gateway)
    if (isUpdate) mkdirSync(folder, { recursive: true })
  })

  const compare = (name: string, text: string): void => {
    const file = join(folder, `${name}.txt`)
    if (isUpdate) writeFileSync(file, text)
    assert.isTrue(existsSync(file), `${file} is missing: UPDATE_TREES=1 writes it`)
    assert.strictEqual(text, readFileSync(file, "utf8"), `${name}: UPDATE_TREES=1 takes it over where it is meant`)
  }

  it("of the login, and of what is around every view, is the one that is kept", async () => {
    const login = await gateway.open()
    await login.getByLabel("Admin password").waitFor()
    const shut = steady(await login.locator("body").ariaSnapshot())
    const page = await gateway.enter("system/flags")
    await shown(page)
    const around = await Promise.all(
      [".bar", ".side"].map(async (part) => steady(await page.locator(part).first().ariaSnapshot()))
    )
    compare("around", `# login\n${shut}\n# bar and entries\n${around.join("\n")}\n`)
  })

  // The own page is of people who sign in (`people.suite.ts`), not of the administrator. The page of logins has no entry.
  for (const path of [...entries.map((one) => one.path), "login"].filter((one) => one !== "me")) {
    const entry = path === "" ? "home" : path
    it(`of ${entry} is the one that is kept`, { timeout: 300_000 }, async () => {
      const page = await gateway.enter(path)
      const root = page.url().replace(/dashboard\/.*/, "dashboard/")
      const parts: Array<string> = []
      const own = furnished.addresses.filter((address) =>
        path === "" ? address === "" || address.startsWith("?") : address.split(/[/?]/)[0] === path
      )
      for (const address of own) {
        await page.goto(root + shownAs(address))
        await shown(page)
        // What was told by the feed and what was asked for may come one after the other.
        let text = ""
        for (let same = 0; same < 2;) {
          const next = steady(await page.locator("main").ariaSnapshot())
          same = next === text ? same + 1 : 0
          text = next
          await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 150))))
        }
        parts.push(`# ${fileOf(address)}\n${text}\n`)
      }
      assert.isAbove(parts.length, 0)
      compare(entry, parts.join("\n"))
    })
  }
})
