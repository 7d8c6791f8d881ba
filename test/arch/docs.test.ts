/** Documents must say what the code says. `UPDATE_DOCS=1 npm test -- test/arch/docs.test.ts` writes those anew that are made from it. */
import { assert, describe, it } from "@effect/vitest"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { readFileSync, writeFileSync } from "node:fs"
import { anyFields } from "../../src/subjects/combos/entity/ConfigFields.ts"
import { ComboStrategy } from "../../src/subjects/combos/entity.ts"
import { typeAndCode } from "../../src/contract/domain/Errors.ts"
import {
  LifecycleHook,
  maxHookTimeoutMs,
  maxPlugins,
  PluginPermission,
  RequestHook
} from "../../src/subjects/plugins/entity.ts"
import { PluginContext, pluginPayloads } from "../../src/contract/domain/PluginPayload.ts"
import { defaultResilience } from "../../src/subjects/resilience/entity.ts"
import { maxFiles, maxTotalBytes } from "../../src/agents/plugins/files/PluginFiles.ts"
import { mostFailures } from "../../src/agents/plugins/hooks/ActiveListeners.ts"
import { maxLines } from "../../src/agents/plugins/registry/LogRing.ts"
import { maxStrategies } from "../../src/agents/plugins/registry/Strategies.ts"
import {
  crossing,
  execLimits,
  fetchLimits,
  fileLimits,
  lifecycleMs,
  loadCpuMs,
  usualSandboxLimits
} from "../../src/agents/plugins/sandbox/Limits.ts"
import { mostUnderWay } from "../../src/agents/plugins/sandbox/OpenPlugin.ts"
import { selectorLimits } from "../../src/agents/plugins/sandbox/Selector.ts"
import { declarations } from "../../src/agents/plugins/sdk/Declarations.ts"
import { allProviders } from "../../src/plane/providers/registry/index.ts"
import { renderUsagePage } from "../../src/plane/providers/registry/UsagePage.ts"
import { type FailurePolicy, policies } from "../../src/plane/resilience/failure/Policy.ts"
import { mostCustomStrategies } from "../../src/plane/routing/auto/RouterStrategies.ts"
import { defaultWeights } from "../../src/plane/routing/auto/Weights.ts"
import { allAutoIds } from "../../src/plane/routing/resolve/AutoId.ts"
import { searchProviders } from "../../src/plane/search/SearchProviders.ts"
import { abilities } from "../../src/wire/media/search/Search.ts"
import { renderFieldTable } from "../../src/wire/fields/Render.ts"

/** The page of searches, with its table of providers made from the data. */
const renderSearchPage = (): string => {
  const page = readFileSync(searchPage, "utf8")
  const rows = searchProviders.map(({ adapter, id, specs }) => {
    const env = allProviders.filter((spec) => specs.includes(spec.id)).flatMap((spec) => spec.env)
    const missing = abilities.filter((ability) => !adapter.can.has(ability)).map((ability) => `\`${ability}\``)
    return [
      `[\`${id}\`](${adapter.docs})`,
      specs.map((spec) => `\`${spec}\``).join(", "),
      env.length === 0 ? "–" : env.map((name) => `\`${name}\``).join(", "),
      adapter.types.join(", "),
      String(adapter.mostResults),
      missing.length === 0 ? "–" : missing.join(", ")
    ]
  })
  const [before = "", after = ""] = page.split(/\|---\|---\|---\|---\|---\|---\|\n(?:\|[^\n]*\n)*/)
  return `${before}|---|---|---|---|---|---|\n${rows.map((cells) => `| ${cells.join(" | ")} |\n`).join("")}${after}`
}

const searchPage = new URL("../../docs/search.md", import.meta.url).pathname

const hooksPage = new URL("../../docs/plugin-hooks.md", import.meta.url).pathname

/** A type as a reader of the page needs it. */
const typeOf = (ast: AST.AST): string => {
  switch (ast._tag) {
    case "Union":
      return ast.types.map(typeOf).join(" or ")
    case "Literal":
      return ast.literal === null ? "null" : `\`${String(ast.literal)}\``
    case "StringKeyword":
      return "string"
    case "NumberKeyword":
      return "number"
    case "BooleanKeyword":
      return "boolean"
    case "TupleType":
      return `array of ${ast.rest.map(({ type }) => typeOf(type)).join(", ")}`
    case "TypeLiteral":
      return ast.propertySignatures.length === 0
        ? "object"
        : `{${ast.propertySignatures.map(({ name, type }) => `${String(name)}: ${typeOf(type)}`).join(", ")}}`
    default:
      return ast._tag
  }
}

const membersOf = (schema: Schema.Schema.AnyNoContext): ReadonlyArray<string> =>
  schema.ast._tag !== "TypeLiteral"
    ? []
    : schema.ast.propertySignatures.map((member) => {
        const meaning = Option.getOrElse(AST.getDescriptionAnnotation(member), () => "")
        return `| \`${String(member.name)}\` | ${typeOf(member.type)} | ${meaning} |`
      })

/** The page of hooks, with its tables made from the schemas. */
const renderHooksPage = (): string => {
  const [before = ""] = readFileSync(hooksPage, "utf8").split("\n## Payloads\n")
  const table = (name: string, schema: Schema.Schema.AnyNoContext): string => {
    const rows = membersOf(schema)
    return rows.length === 0
      ? `### ${name}\n\nNothing.\n`
      : `### ${name}\n\n| member | type | meaning |\n|---|---|---|\n${rows.join("\n")}\n`
  }
  const tables = [
    table("Context", PluginContext),
    ...Object.entries(pluginPayloads).map(([event, schema]) => table(event, schema))
  ]
  return `${before}\n## Payloads\n\n${tables.join("\n")}`
}

const generated: ReadonlyArray<readonly [path: string, render: () => string]> = [
  [new URL("../../docs/wire-fields.md", import.meta.url).pathname, renderFieldTable],
  [new URL("../../docs/usage-by-provider.md", import.meta.url).pathname, () => renderUsagePage(allProviders)],
  [searchPage, renderSearchPage],
  [hooksPage, renderHooksPage]
]

describe("generated documents", () => {
  for (const [path, render] of generated) {
    it(`${path.slice(path.lastIndexOf("/") + 1)} is up to date`, () => {
      if (process.env["UPDATE_DOCS"] === "1") writeFileSync(path, render())
      assert.strictEqual(readFileSync(path, "utf8"), render())
    })
  }
})

const read = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8")

/** The cells of the rows that begin with a word in backquotes, below a heading. */
const rowsBelow = (document: string, heading: string): ReadonlyArray<ReadonlyArray<string>> =>
  (document.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "")
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.slice(1, -1).split("|"))
    .map((cells) => cells.map((cell) => cell.trim().replaceAll("`", "")))

describe("written documents", () => {
  it("routing.md names every strategy, and every factor with its weight", () => {
    const document = read("routing.md")
    const strategies = rowsBelow(document, "Strategies").map(([name]) => name)
    for (const strategy of ComboStrategy.literals) assert.include(strategies, strategy)
    const weights = rowsBelow(document, "auto").flatMap(([name = "", , weight]) =>
      weight === undefined ? [] : [[name, Number(weight)]]
    )
    assert.deepStrictEqual(Object.fromEntries(weights), defaultWeights)
  })

  it("routing.md says of every key of a combo's config what it is for, and of no other", () => {
    const document = read("routing.md")
    const { nested, plain } = anyFields
    const known = [plain, nested, ...Object.values(nested)].flatMap((fields) => Object.keys(fields))
    for (const key of known) assert.include(document, `\`${key}\``)
    const tables = document.split("\n\n").filter((block) => /^\|[^\n]*`config`/.test(block))
    const told = tables.flatMap((table) => {
      const [head = "", , ...rows] = table.split("\n")
      const column = head.split("|").findIndex((cell) => cell.trim() === "`config`")
      return rows.flatMap((row) => Array.from((row.split("|")[column] ?? "").matchAll(/`(\w+)`/g), ([, key]) => key))
    })
    assert.isAbove(told.length, 30)
    for (const key of told) assert.include(known, key)
  })

  it("resilience.md says of every kind of failure what is done about it", () => {
    const rests = { backoff: "backoff", hint: "hint", until: "window" } as const
    const breaker = {
      never: "never",
      by_status: "by status",
      by_status_if_silent: "by status, unless it was answering"
    }
    const cellsOf = ([kind, policy]: readonly [string, FailurePolicy]) => [
      kind,
      policy.refreshToken ? "with a new token" : policy.retrySameTarget ? "yes" : "no",
      policy.tryNextTarget ? "yes" : "no",
      policy.terminal !== null ? "connection" : policy.scope === "none" ? "–" : policy.scope,
      policy.terminal !== null
        ? "out"
        : policy.weight === "doubt"
          ? "others first"
          : policy.scope === "connection"
            ? rests[policy.cooldown.by]
            : "–",
      breaker[policy.breaker]
    ]
    const told = rowsBelow(read("resilience.md"), "Kinds of failure").map((cells) =>
      cells.filter((_, index) => index !== 1)
    )
    assert.deepStrictEqual(told, Object.entries(policies).map(cellsOf))
  })

  it("reference/http-api.md lists type and code of every status that has its own, and the default timeouts", () => {
    const page = read("reference/http-api.md")
    const listed = Array.from(page.matchAll(/^\| (\d{3}) \| `(\w+)` \| `(\w+)` \|$/gm), (row) => row.slice(1).join(" "))
    const usual = new Set([400, 599].map((status) => typeAndCode(status).join(" ")))
    const known = Array.from({ length: 200 }, (_, index) => 400 + index)
      .map((status) => ({ status, words: typeAndCode(status).join(" ") }))
      .filter(({ status, words }) => status === 400 || !usual.has(words))
    assert.deepStrictEqual(
      listed,
      known.map(({ status, words }) => `${status} ${words}`)
    )
    const timeouts = rowsBelow(page, "Timeouts").map(([name = "", value = ""]) => [
      name,
      Number(value.replaceAll(",", ""))
    ])
    assert.deepStrictEqual(Object.fromEntries(timeouts), defaultResilience.timeouts)
  })

  it("reference/http-api.md names every header that answers of a model can have", () => {
    const page = read("reference/http-api.md")
    const source = readFileSync(new URL("../../src/plane/request/Headers.ts", import.meta.url), "utf8")
    const names = Array.from(source.matchAll(/"(X-Gateway-[\w-]+)"/g), ([, name = ""]) => name)
    assert.isAbove(names.length, 10)
    for (const name of names) assert.include(page, `\`${name}\``)
  })

  it("reference/model-ids.md names every variant, category and tier of auto", () => {
    const page = read("reference/model-ids.md")
    const parts = new Set(allAutoIds.flatMap((id) => id.replace("auto/", "").split(":")))
    for (const part of parts) assert.match(page, new RegExp(`(?:auto/|:|\`)${part}\\b`))
  })

  it("resilience.md shows the defaults that are in force", () => {
    const [, json = ""] = /```json\n(.*?)```/s.exec(read("resilience.md")) ?? []
    assert.deepStrictEqual(JSON.parse(json), defaultResilience)
  })

  it("plugin-hooks.md says of every event when it is called, and which are waited for", () => {
    const told = rowsBelow(read("plugin-hooks.md"), "When").map(([event, , waits]) => [event, waits])
    assert.deepStrictEqual(told, [
      ...RequestHook.literals.map((hook) => [hook, hook === "onRequest" || hook === "onResponse" ? "yes" : "no"]),
      ...LifecycleHook.literals.map((hook) => [hook, `${lifecycleMs / 1_000} s`])
    ])
  })

  it("plugins.md and plugin-sandbox.md name every event and permission, and the latter the globals of each", () => {
    const page = read("plugins.md")
    for (const hook of [...RequestHook.literals, ...LifecycleHook.literals]) assert.include(page, `\`${hook}\``)
    assert.deepStrictEqual(
      rowsBelow(page, "Permissions").map(([permission]) => permission),
      [...PluginPermission.literals]
    )
    const found = rowsBelow(read("plugin-sandbox.md"), "What code finds").map(([permission]) => permission)
    assert.deepStrictEqual(found, [...PluginPermission.literals])
    const [globals = ""] = read("plugin-sandbox.md").split("\n## Calls\n")
    for (const [, name] of declarations().matchAll(/^declare (?:const|class|function) (\w+)/gm)) {
      assert.match(globals, new RegExp(`\`${name}[\`.(]`))
    }
  })

  it("plugins.md and plugin-sandbox.md tell the limits that are in force", () => {
    const mib = (bytes: number): string => `${bytes / 1_048_576} MB`
    const kib = (bytes: number): string => `${bytes / 1_024} KB`
    const s = (ms: number): string => `${ms / 1_000}`
    const number = (value: number): string => value.toLocaleString("en-US")
    const { cpuMs, memoryBytes, stackBytes, timeoutMs, waiting } = usualSandboxLimits
    const memory = `${mib(memoryBytes)}, ${kib(stackBytes)}`
    const selector = `${selectorLimits.selectMs} ms`
    const expected: Readonly<Record<string, ReadonlyArray<string>>> = {
      "plugins.md": [
        `| memory, stack | ${memory} per plugin |`,
        `| processor time of a call | ${cpuMs} ms |`,
        `| calls that wait for one plugin | ${waiting} |`,
        `| lines of log that are kept | the last ${maxLines}, in memory |`,
        `${number(timeoutMs)} unless it says another, at most ${number(maxHookTimeoutMs)}`,
        `At most ${maxFiles} files with ${mib(maxTotalBytes)} together, ${maxPlugins} plugins in all.`,
        `have ${s(lifecycleMs)} seconds`,
        `up to ${mib(fileLimits.folderBytes)}`,
        `with ${selector}, without permissions`,
        `at most ${maxStrategies} strategies, all plugins together ${mostCustomStrategies}`,
        `fails five times in a row`
      ],
      "plugin-sandbox.md": [
        `| memory, stack | ${memory} |`,
        `| processor time per call | ${cpuMs} ms; ${loadCpuMs} ms to load the code |`,
        `\`timeoutMs\`: ${number(timeoutMs)}, at most ${number(maxHookTimeoutMs)}; \`onInstall\` and the like ${number(lifecycleMs)} |`,
        `| calls under way, and waiting | ${mostUnderWay}, and ${waiting}; more fail at once |`,
        `| body that leaves | ${mib(crossing.bodyBytes)}, or`,
        `| metadata | ${kib(crossing.smallChars)} |`,
        `| response of \`blockRequest\` | ${mib(crossing.answerChars)}, 32 headers |`,
        `| calls of the gateway | ${crossing.asksAtOnce} at once, ${crossing.asksPerCall} in one call |`,
        `| lines of \`console\` | ${crossing.linesPerCall} per call, ${number(crossing.lineChars)} characters each |`,
        `${mib(fetchLimits.maxBytes)} and ${s(fetchLimits.timeoutMs)} seconds at most`,
        `A file has ${mib(fileLimits.fileBytes)} at most`,
        `${mib(fileLimits.folderBytes)} and ${number(fileLimits.entries)} entries`,
        `for ${s(execLimits.timeoutMs)} seconds and ${mib(execLimits.outputBytes)} of output`,
        `with ${selector}, ${mib(selectorLimits.memoryBytes)} and no permission`
      ]
    }
    for (const [page, words] of Object.entries(expected)) {
      const text = read(page).replaceAll(/\s+/g, " ")
      for (const each of words) assert.include(text, each, page)
    }
    assert.strictEqual(mostFailures, 5)
  })
})
