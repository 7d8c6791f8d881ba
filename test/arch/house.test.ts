/** Rules about the code that no other tool checks. Imports are checked by `npm run boundaries`. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"

const root = fileURLToPath(new URL("../..", import.meta.url))

interface SourceFile {
  /** Path from the root of the project. */
  readonly path: string
  readonly text: string
}

const filesIn = (folder: string, ends: RegExp): ReadonlyArray<SourceFile> =>
  !existsSync(join(root, folder))
    ? []
    : readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && ends.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((path) => !/\/(node_modules|results|dist|build)\//u.test(path))
        .map((path) => ({ path: relative(root, path), text: readFileSync(path, "utf8") }))

/** A text for plugins, which names the globals of their sandbox: nothing of it runs here. */
const shown = "src/agents/plugins/sdk/Globals.ts"
const source = filesIn("src", /\.tsx?$/u).filter(({ path }) => path !== shown)

/** Code without comments, so that a comment may name what code may not use. URLs in strings stay. */
const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//gu, "").replaceAll(/(^|\s)\/\/.*$/gmu, "$1")

const duplicates = (found: ReadonlyArray<readonly [name: string, path: string]>): ReadonlyArray<string> => {
  const places = new Map<string, Array<string>>()
  for (const [name, path] of found) places.set(name, [...(places.get(name) ?? []), path])
  return [...places].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(", ")}`)
}

const matches = (pattern: RegExp): ReadonlyArray<readonly [string, string]> =>
  source.flatMap(({ path, text }) =>
    Array.from(withoutComments(text).matchAll(pattern), ([, name = ""]) => [name, path] as const)
  )

const errorTag = /\bTaggedError(?:<\w+>\(\))?\(\s*"([^"]+)"/gu
const serviceTag = /\bContext\.(?:Generic)?Tag\(\s*"([^"]+)"/gu

/** What only the adapters in `src/platform` may touch; the dashboard runs in browsers. */
const reservedForPlatform: ReadonlyArray<readonly [name: string, pattern: RegExp]> = [
  ["process.env", /\bprocess\.env\b/u],
  ["Date.now", /\bDate\.now\b/u],
  ["new Date()", /\bnew Date\(\s*\)/u],
  ["Math.random", /\bMath\.random\b/u],
  ["setTimeout", /\bsetTimeout\b/u],
  ["setInterval", /\bsetInterval\b/u],
  // A method or a function of ours may be called fetch; the global may not be called.
  ["fetch", /(?<![.\w])fetch\(/u]
]

describe("the code", () => {
  it("has source files to look at", () => {
    assert.isAbove(source.length, 20)
    assert.isAbove(matches(errorTag).length, 5)
    assert.isAbove(matches(serviceTag).length, 5)
  })

  it("gives every tagged error a tag of its own", () => {
    assert.deepStrictEqual(duplicates(matches(errorTag)), [])
  })

  it("gives every service a tag of its own, named after its folder", () => {
    const tags = matches(serviceTag)
    assert.deepStrictEqual(duplicates(tags), [])
    const astray = tags.filter(([tag, path]) => !tag.startsWith(`gateway/${path.split("/")[1]}/`))
    assert.deepStrictEqual(astray, [])
  })

  it("lets what waits come in turn: a semaphore wakes all that wait, and each waits again behind its waits before", () => {
    /** Its waiters are few: a window of attempts. */
    const bounded = "src/subjects/webhooks/Deliveries.ts"
    const using = source
      .filter(({ path, text }) => path !== bounded && /\b(?:unsafeM|m)akeSemaphore\b/u.test(withoutComments(text)))
      .map(({ path }) => path)
    assert.deepStrictEqual(using, [], "use kernel/Lane")
  })

  it("has no file over 600 lines, data tables aside", () => {
    const large = source
      .filter(({ path }) => !path.startsWith("src/plane/providers/registry/"))
      .map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
      .filter(({ lines }) => lines > 600)
    assert.deepStrictEqual(large, [])
  })

  it.each(reservedForPlatform)("uses %s in src/platform only", (_, pattern) => {
    const users = source
      .filter(({ path, text }) => !/^src\/(?:platform|dashboard)\//u.test(path) && pattern.test(withoutComments(text)))
      .map(({ path }) => path)
    assert.deepStrictEqual(users, [])
  })

  it("reads the address of a client in auth/PeerAddress only, which knows the connections of tunnels", () => {
    const readers = source
      .filter(({ text }) => /\bremoteAddress\b/u.test(withoutComments(text)))
      .map(({ path }) => path)
      .sort()
    assert.deepStrictEqual(readers, [
      // The address that a call of the gateway's own has reached.
      "src/net/egress/Connector.ts",
      // Connections of other programs that capture passes on: none of them is a client of the gateway.
      "src/observe/capture/proxy/Dialer.ts",
      "src/observe/capture/proxy/HttpProxy.ts",
      "src/observe/capture/tls/Connection.ts",
      // A field of `Peer`, which PeerAddress fills.
      "src/subjects/auth/Gate.ts",
      "src/subjects/auth/PeerAddress.ts"
    ])
  })

  it("starts no program and opens no socket outside the folders that own them, by whatever kind of import", () => {
    const named =
      /(?:from|import|require|getBuiltinModule)\s*\(?\s*"(?:node:)?(child_process|cluster|dgram|dns|http2|https?|net|tls|undici|vm|ws)(?:\/[^"]*)?"/u
    // IpRanges only reads addresses.
    const owners =
      /^src\/(?:net\/egress|entry|observe\/capture)\/|^src\/store\/valkey\/Connection\.ts$|^src\/kernel\/IpRanges\.ts$|^src\/cli\/(?:doctor\/machine|gateway\/(?:NodeHttp|Feed)|service\/Systemctl)\.ts$|^src\/platform\/programs\/(?:AskVersion|BoundedProgram|Browser|Exec|LineProcess|ProcessIdentity|Siblings|SupervisedProgram)\.ts$/u
    const users = source.filter(({ text }) => named.test(withoutComments(text).replaceAll(/\bimport type\b.*$/gmu, "")))
    assert.isAbove(users.length, 3)
    assert.deepStrictEqual(
      users.filter(({ path }) => !owners.test(path)).map(({ path }) => path),
      []
    )
    const evasive = /\b(?:createRequire|process\.binding|child_process)\b/u
    assert.deepStrictEqual(
      source
        .filter(({ text }) => evasive.test(withoutComments(text)))
        .map(({ path }) => path)
        .sort(),
      [
        "src/cli/service/Systemctl.ts",
        // Takes back changes of the machine when the gateway is killed, and runs the programs that make them.
        "src/observe/capture/host/Watchdog.ts",
        // The addon of the transparent mode, which is loaded when it is asked for.
        "src/observe/capture/transparent/Addon.ts",
        "src/platform/programs/AskVersion.ts",
        // What a plugin may start, with its permission and the operator's variable.
        "src/platform/programs/BoundedProgram.ts",
        "src/platform/programs/Browser.ts",
        // A type, for the two that start programs of long life.
        "src/platform/programs/ChildGroup.ts",
        // The tools that people launch.
        "src/platform/programs/Exec.ts",
        // MCP servers that are programs; only a person at the machine registers one (entry/handling/AtTheMachine).
        "src/platform/programs/LineProcess.ts",
        // `ps`, where there is no /proc.
        "src/platform/programs/ProcessIdentity.ts",
        // Clients of tunnels.
        "src/platform/programs/SupervisedProgram.ts"
      ]
    )
  })

  it("starts one program only, systemctl, with arguments that are written down and without a shell", () => {
    const file = source.find(({ path }) => path === "src/cli/service/Systemctl.ts")
    const code = withoutComments(file?.text ?? "")
    assert.match(code, /import \{ execFile \} from "node:child_process"/u)
    assert.deepStrictEqual(
      Array.from(code.matchAll(/execFile\(\s*([^,]+),/gu), ([, started]) => started),
      ['"systemctl"']
    )
    assert.notMatch(code, /\bshell\b|process\.argv|environment/u)
  })

  it("needs nothing to run but the packages with native code", () => {
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    assert.deepStrictEqual(Object.keys(dependencies), ["@node-rs/argon2"])
    // Where Node has no SQLite of its own.
    assert.deepStrictEqual(Object.keys(peerDependencies), ["better-sqlite3"])
  })

  it("puts a full stop behind what others have said by asSentence, so that none gets two", () => {
    const foreign =
      /\$\{[^{}`]*\b(?:message|reasonOf|messageOf|problemOf|configProblem|reason|problem|detail|why|String\(error\))(?!\.port\b)\b[^{}`]*\}\.(?=[ `$\\])/gu
    assert.isTrue(new RegExp(foreign.source, "u").test("`It failed: ${error.message}.`"))
    assert.deepStrictEqual(
      source.flatMap(({ path, text }) =>
        Array.from(withoutComments(text).matchAll(foreign), ([found]) => `${path}: ${found}`)
      ),
      []
    )
  })

  it("makes nothing per request that V8 keeps until a full collection: docs/contributing/speed.md says what that is", () => {
    // Made once: for a socket, a sandbox, the state of capture.
    const once = new Set([
      "src/net/egress/Continue.ts",
      "src/entry/listening/LingeringClose.ts",
      "src/agents/plugins/sandbox/Engine.ts",
      "src/observe/capture/CaptureState.ts"
    ])
    const assigned =
      /^\s*(?:if \(.*\) )?[\w#.[\]]+\.#?\w+ (?:[?|&]{2})?= (?:async )?(?:function\b|\([^()]*\)(?:: [^=]+)? =>|\w+ =>)/mu
    const literalGetter = /^\s+get \w+\(\) \{/mu
    const found = source
      .filter(({ path }) => !path.startsWith("src/dashboard/") && !once.has(path))
      .filter(({ text }) => {
        const code = withoutComments(text)
        return assigned.test(code) || literalGetter.test(code)
      })
    assert.deepStrictEqual(
      found.map(({ path }) => path),
      []
    )
    assert.isTrue(assigned.test("this.#end = () => run()") && assigned.test("place.wake = async (now) => now"))
  })

  it("names no path of a developer's machine", () => {
    const papers = ["src", "bin", "test", "bench", ".ci", "native"].flatMap((folder) => filesIn(folder, /./u))
    const loose = readdirSync(root, { withFileTypes: true })
      // In a worktree `.git` is a file with a path, and not part of the project.
      .filter((entry) => entry.isFile() && entry.name !== ".git")
      .map((entry) => ({ path: entry.name, text: readFileSync(join(root, entry.name), "utf8") }))
    // Not in the middle of a URL or of a longer path.
    const machinePath = /(?<![\w./:}-])\/(?:work|home|root|Users)\/\w/u
    const naming = [...papers, ...loose].filter(({ text }) => machinePath.test(text)).map(({ path }) => path)
    assert.deepStrictEqual(naming, [])
  })

  it("names no paper outside the repository: comments say the fact, or name a page under docs", () => {
    const pointer =
      /\b(?:document [1-9]|contract [A-C]\d|ruling [A-C]?\d|reference-facts)\b|[("][AB]\d+(?:\.\d+)?(?: "[^"]*")?[)",]|\((?:issue) (?:"|item|\d)/iu
    const texts = [
      ...["src", "test", "bin", "bench", "docs"].flatMap((folder) => filesIn(folder, /\.(?:c|md|mjs|ts)$/u)),
      ...["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map((path) => ({
        path,
        text: readFileSync(join(root, path), "utf8")
      }))
    ]
    const comments = (text: string): string =>
      Array.from(text.matchAll(/\/\*[\s\S]*?\*\/|(?:^|\s)\/\/.*$/gmu), ([comment]) => comment).join("\n")
    const naming = texts.filter(
      ({ path, text }) =>
        path !== "test/arch/house.test.ts" && pointer.test(path.endsWith(".md") ? text : comments(text))
    )
    assert.isTrue(pointer.test("the law (document 1, contract B3)"))
    assert.isTrue(pointer.test("exactly these statuses (A2.5)"))
    assert.deepStrictEqual(
      naming.map(
        ({ path, text }) => `${path}: ${pointer.exec(path.endsWith(".md") ? text : comments(text))?.[0] ?? ""}`
      ),
      []
    )
  })

  it("begins doc comments with a verb or with what is described, as Effect's own do", () => {
    const questions =
      /\/\*\*\s*(?:\*\s*)?(?:Hot: )?(?:What|Whether|How|Who|Whose|Whom|Whoever|Where|Why|When|Which|Nobody)\b/iu
    // Parsed only where such a text is: it may be in a text for others, such as the types for plugins.
    const asking = ({ path, text }: SourceFile): ReadonlyArray<string> => {
      const found: Array<string> = []
      const visit = (node: ts.Node): void => {
        for (const doc of ts.getJSDocCommentsAndTags(node)) {
          const [begin] = questions.exec(doc.getFullText()) ?? []
          if (doc.parent === node && begin !== undefined) found.push(`${path}: ${begin}`)
        }
        ts.forEachChild(node, visit)
      }
      if (questions.test(text)) visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
      return found
    }
    const ofOne = (begin: string): ReadonlyArray<string> =>
      asking({ path: "one.ts", text: `export interface One {\n  /** ${begin} */\n  readonly one: number\n}\n` })
    for (const begin of ["What is kept.", "whether it is on.", "Hot: why it fails.", "\n * How it is read.\n"]) {
      assert.lengthOf(ofOne(begin), 1, begin)
    }
    for (const begin of ["Checks whether it is on.", "Whole lines.", "Hot: counts a call.", "Whenever."]) {
      assert.isEmpty(ofOne(begin), begin)
    }
    assert.isEmpty(asking({ path: "one.ts", text: "export const one = `/** What it is. */`\n" }))
    assert.deepStrictEqual([...source, ...filesIn("src", /\.mjs$/u)].flatMap(asking), [])
  })

  it("gives each schema of the API a name of its own: of two with one name the document would show one", () => {
    const places = new Map<string, Array<string>>()
    for (const { path, text } of source.filter((file) => /^src\/(?:contract|domain|subjects)\//u.test(file.path))) {
      for (const [, name = ""] of text.matchAll(/\bidentifier: "(\w+)"/gu)) {
        places.set(name, [...(places.get(name) ?? []), path])
      }
    }
    assert.isAbove(places.size, 200)
    assert.deepStrictEqual(
      [...places].filter(([, paths]) => paths.length > 1),
      []
    )
  })

  it("numbers its migrations without a gap", () => {
    const numbers = readdirSync(join(root, "src/store/migrations"))
      .flatMap((name) => /^(\d{4})_\w+\.ts$/u.exec(name)?.[1] ?? [])
      .map(Number)
      .toSorted((a, b) => a - b)
    assert.isNotEmpty(numbers)
    assert.deepStrictEqual(
      numbers,
      numbers.map((_, index) => index + 1)
    )
  })
})
