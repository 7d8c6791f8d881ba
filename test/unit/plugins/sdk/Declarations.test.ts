/** The types that `plugin new` writes say what the sandbox has: no more, and no less. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import ts from "typescript"
import { runInNewContext } from "node:vm"
import { PluginPermission } from "../../../../src/subjects/plugins/entity.ts"
import { declarations } from "../../../../src/agents/plugins/sdk/Declarations.ts"
import { projectFiles } from "../../../../src/agents/plugins/sdk/NewProject.ts"
import { callOf, openSandbox, pluginOf } from "../../../support/Sandboxes.ts"

const fileName = "gateway-plugin.d.ts"

/** What TypeScript finds wrong with code beside the types, as an editor would with the project's settings. */
const problemsOf = (code: string): ReadonlyArray<string> => {
  const { compilerOptions } = JSON.parse(projectFiles("one").get("jsconfig.json") ?? "{}")
  const { options } = ts.convertCompilerOptionsFromJson({ ...compilerOptions, noEmit: true, allowJs: true }, "/")
  const texts = new Map([
    [`/${fileName}`, declarations()],
    ["/index.js", code]
  ])
  const host = ts.createCompilerHost({ ...options, types: [] })
  const { fileExists, getSourceFile, readFile } = host
  const program = ts.createProgram(
    [...texts.keys()],
    { ...options, types: [] },
    {
      ...host,
      fileExists: (name) => texts.has(name) || fileExists(name),
      readFile: (name) => texts.get(name) ?? readFile(name),
      getSourceFile: (name, version) => {
        const text = texts.get(name)
        return text === undefined ? getSourceFile(name, version) : ts.createSourceFile(name, text, version)
      }
    }
  )
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))
}

const nameOf = (name: ts.PropertyName | ts.BindingName | undefined, file: ts.SourceFile): ReadonlyArray<string> =>
  name === undefined || ts.isComputedPropertyName(name) ? [] : [name.getText(file)]

/** Members of a type that is written out, by name. */
const membersOf = (type: ts.TypeNode, file: ts.SourceFile): ReadonlyArray<string> => {
  if (ts.isTypeLiteralNode(type)) return type.members.flatMap(({ name }) => nameOf(name, file))
  if (ts.isMappedTypeNode(type) && type.typeParameter.constraint !== undefined) {
    return Array.from(type.typeParameter.constraint.getText(file).matchAll(/"(\w+)"/g), ([, name = ""]) => name)
  }
  return []
}

interface Global {
  readonly members: ReadonlyArray<string>
  readonly statics: ReadonlyArray<string>
}

/** The globals that the types declare as values. */
const declared = (): ReadonlyMap<string, Global> => {
  const file = ts.createSourceFile(fileName, declarations(), ts.ScriptTarget.ES2022)
  const found = new Map<string, Global>()
  for (const statement of file.statements) {
    if (ts.isFunctionDeclaration(statement))
      found.set(statement.name?.getText(file) ?? "", { members: [], statics: [] })
    if (ts.isVariableStatement(statement)) {
      for (const { name, type } of statement.declarationList.declarations) {
        found.set(name.getText(file), { members: type === undefined ? [] : membersOf(type, file), statics: [] })
      }
    }
    if (ts.isClassDeclaration(statement)) {
      const isStatic = (member: ts.ClassElement): boolean =>
        ts.canHaveModifiers(member) &&
        (ts.getModifiers(member) ?? []).some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword)
      const names = (some: ReadonlyArray<ts.ClassElement>) => some.flatMap(({ name }) => nameOf(name, file))
      found.set(statement.name?.getText(file) ?? "", {
        members: names(statement.members.filter((member) => !isStatic(member))),
        statics: names(statement.members.filter(isStatic))
      })
    }
  }
  return found
}

/** What the sandbox has with all permissions, in the same form. */
const look = pluginOf(
  `onRequest: () => {
    const made = {
      Request: () => new Request("http://example.com/"), Response: () => new Response(), Headers: () => new Headers(),
      AbortController: () => new AbortController(), URL: () => new URL("http://example.com/"),
      URLSearchParams: () => new URLSearchParams(), TextEncoder: () => new TextEncoder(), TextDecoder: () => new TextDecoder()
    }
    const isPlain = (value) => typeof value === "object" && value !== null && !(Symbol.toStringTag in value)
    const chain = (value) => value === null || value === Object.prototype ? [] : [...Object.getOwnPropertyNames(value), ...chain(Object.getPrototypeOf(value))]
    const globals = {}
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      const value = globalThis[name]
      globals[name] = {
        members: made[name] === undefined ? (isPlain(value) ? chain(value) : []) : chain(made[name]()).filter((each) => each !== "constructor"),
        statics: typeof value === "function" ? Object.getOwnPropertyNames(value).filter((each) => !["length", "name", "prototype"].includes(each)) : []
      }
    }
    return modifyBody({ globals })
  }`
)

/** Of the language, as Node and QuickJS have them; the types of these come with TypeScript. */
const ofTheLanguage: ReadonlySet<string> = new Set([
  ...(runInNewContext("Object.getOwnPropertyNames(globalThis)") as ReadonlyArray<string>).filter(
    (name) => name !== "console"
  ),
  "Float16Array",
  "InternalError",
  "Iterator",
  "queueMicrotask"
])

const sorted = (names: Iterable<string>): ReadonlyArray<string> => [...new Set(names)].toSorted()

describe("the types of plugins", () => {
  it.scopedLive("declare every global of the sandbox with its members, and no other", () =>
    Effect.gen(function* () {
      const { sandbox } = yield* openSandbox(look, {
        permissions: PluginPermission.literals,
        environment: { GATEWAY_PLUGINS_ALLOW_EXEC: "1" },
        limits: { cpuMs: 2_000, timeoutMs: 10_000 }
      })
      const outcome = yield* sandbox.call(callOf({}))
      assert.strictEqual(outcome._tag, "Changed", JSON.stringify(outcome))
      const { globals } = JSON.parse(outcome._tag === "Changed" ? Buffer.from(outcome.body).toString() : "{}")
      const types = declared()
      assert.deepStrictEqual(
        sorted(types.keys()),
        sorted(Object.keys(globals).filter((name) => !ofTheLanguage.has(name)))
      )
      for (const [name, { members, statics }] of types) {
        assert.deepStrictEqual(sorted(members), sorted(globals[name].members), `members of ${name}`)
        assert.deepStrictEqual(sorted(statics), sorted(globals[name].statics), `static members of ${name}`)
      }
    })
  )

  it("fit the new project's code, and say what is wrong", { timeout: 60_000 }, () => {
    assert.deepStrictEqual(problemsOf(projectFiles("one").get("index.js") ?? ""), [])
    const all = `import { definePlugin, modifyBody } from "gateway/plugin"
export default definePlugin({
  name: "all",
  strategies: { steady: { description: "The first.", select: (pool, { taskType }) => ({ ...pool[0], reason: taskType }) } },
  onRequest: async (context) => {
    const response = await fetch(new URL("/x", "https://example.com"), { method: "POST", body: "x", signal: new AbortController().signal })
    const { size } = await fs.stat("a")
    await fs.writeFile("a", await response.text(), "base64")
    await fs.rm("a", { recursive: true })
    const { stdout } = await child_process.exec("echo", ["a"], { input: "b" })
    setTimeout(() => console.log(size, stdout, process.env.HOME, crypto.randomUUID()), 1)
    return modifyBody({ ...context.body, text: new TextDecoder().decode(new TextEncoder().encode("é")) })
  }
})
`
    assert.deepStrictEqual(problemsOf(all), [])
    const wrong = problemsOf(`fetch(5); fs.readFile(); process.exit(); child_process.exec("a", "b"); require("fs")`)
    assert.lengthOf(wrong, 5, wrong.join("\n"))
  })
})
