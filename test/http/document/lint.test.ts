/** Redocly's linter with its recommended rules finds nothing in the document. */
import { assert, it } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openApiJson } from "../../../src/contract/OpenApiDocument.ts"
import * as Redocly from "../../support/Redocly.ts"

interface Report {
  readonly totals: { readonly errors: number; readonly warnings: number }
  readonly problems: ReadonlyArray<{ readonly ruleId: string; readonly message: string }>
}

const lint = async (folder: string, document: string): Promise<Report> => {
  writeFileSync(join(folder, "openapi.json"), document)
  const { stderr, stdout } = await Redocly.run(folder, [
    "lint",
    "openapi.json",
    "--extends",
    "recommended",
    "--format",
    "json"
  ])
  const start = stdout.indexOf("{")
  assert.isAtLeast(start, 0, `The linter gave no report: ${stdout.slice(0, 1_000)} ${stderr.slice(0, 1_000)}`)
  return JSON.parse(stdout.slice(start)) as Report
}

/**
 * OpenAI's address of a film beside the gateway's own address of a job. No job is called `content`, and the router takes the path with
 * fewer parameters.
 */
const isKnown = ({ message }: Report["problems"][number]): boolean =>
  message.endsWith("`/v1/videos/generations/{job}` and `/v1/videos/{job}/content`.")

it("the document has no errors and no warnings, and the linter would find some", { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-lint-"))
  try {
    const { problems, totals } = await lint(folder, openApiJson())
    assert.deepStrictEqual(
      problems.filter((problem) => !isKnown(problem)),
      []
    )
    assert.strictEqual(totals.errors + totals.warnings, problems.length)
    assert.isAtMost(problems.length, 1)
    const worse = openApiJson().replace('"summary":"List combos"', '"sumary":"List combos"')
    assert.notStrictEqual(worse, openApiJson())
    assert.isAbove((await lint(folder, worse)).totals.errors, 0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
