// Writes the version of package.json, after `npm version` has raised it, where it stands besides: the changelog gets a section of it, with what was
// unreleased, and the manual page its name. Ends with 1, and changes nothing, where there is nothing to release.
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const root = process.cwd()
const changelogFile = join(root, "CHANGELOG.md")
const manualFile = join(root, "docs/reference/gateway.1")

const stop = (message) => {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const changelog = readFileSync(changelogFile, "utf8")
const heading = "## Unreleased\n"
const [before, after] = changelog.split(heading)
if (after === undefined) stop(`CHANGELOG.md has no section "${heading.trim()}": add it above the newest version.`)
if (changelog.includes(`\n## ${version} `))
  stop(`CHANGELOG.md has a section of ${version} already: raise the version first.`)
if (!/^- /m.test(after.split(/^## /m)[0]))
  stop("Nothing in CHANGELOG.md is unreleased, so there is nothing to release.")

const today = new Date().toISOString().slice(0, 10)
writeFileSync(changelogFile, `${before}${heading}\n## ${version} (${today})\n${after}`)
const manual = readFileSync(manualFile, "utf8")
writeFileSync(manualFile, manual.replace(/"gateway \d+\.\d+\.\d+[^"]*"/, `"gateway ${version}"`))
process.stdout.write(`CHANGELOG.md and docs/reference/gateway.1 say ${version}.\n`)
