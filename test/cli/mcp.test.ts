/** `gateway mcp add`, `list`, `call` and the like, as the owner of a running gateway types them. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { docsServer, newDocs, program as stdioServer } from "../http/mcp/upstream/Servers.ts"
import { piped, program } from "./support.ts"

const { dataDir, main, run, serve } = program()

it.scopedLive(
  "registers servers over HTTP and programs, calls their tools and removes them",
  () =>
    Effect.flatMap(docsServer(newDocs()), (docs) =>
      Effect.promise(async () => {
        const DATA_DIR = dataDir()
        const server = await serve({ DATA_DIR })
        const gateway = async (...words: ReadonlyArray<string>) => run(["mcp", ...words], { DATA_DIR })
        const done = async (...words: ReadonlyArray<string>) => {
          const { code, stderr, stdout } = await gateway(...words)
          assert.strictEqual(code, 0, stderr)
          return stdout
        }
        const headers = "X-Team: research\r\nAuthorization: Bearer piped-secret-0123456789\n"
        const add = ["mcp", "add", "docs", docs.url, "--header-stdin", "--header", "X-Place: here"]
        const added = await piped(main, add, { DATA_DIR, PATH: process.env["PATH"] ?? "", HOME: DATA_DIR }, headers)
        assert.strictEqual(added.code, 0, added.stderr)
        const shown = JSON.parse(await done("show", "docs", "--json"))
        assert.deepStrictEqual(shown.server.headerNames, ["X-Place", "X-Team", "Authorization"])
        assert.match(await done("test", "docs"), /docs__search {2}Search the pages/)
        assert.deepInclude(docs.seen.at(-1), {
          "x-team": "research",
          "x-place": "here",
          authorization: "Bearer piped-secret-0123456789"
        })
        assert.strictEqual(await done("call", "docs__search", '{"query":"limits"}'), "Found limits.\n")
        const asJson = JSON.parse(await done("call", "docs__search", '{"query":"limits"}', "--json"))
        assert.deepStrictEqual(asJson.structuredContent, { found: ["limits"] })
        const health = JSON.parse(await done("call", "gateway_get_health"))
        assert.strictEqual(health.status, "ok")
        // Without its input the tool fails.
        const callPiped = ["mcp", "call", "docs__search", "-"]
        const input = await piped(main, callPiped, { DATA_DIR, HOME: DATA_DIR }, '{"query":"piped"}')
        assert.strictEqual(input.code, 0, input.stderr)
        for (const [words, code, message] of [
          [["call", "docs__fail"], 1, /It is not possible/],
          [["call", "docs__serch"], 2, /Unknown tool: docs__serch.+docs__search/],
          [["call", "docs__search", "limits"], 2, /no JSON object/],
          [["call", "docs__search", "[1]"], 2, /no JSON object/],
          [["add", "Docs", docs.url], 2, /<name>: must be 1 to 31/],
          [["add", "docs", docs.url], 1, /already an MCP server named 'docs'/],
          [["add", "more", docs.url, "word"], 2, /One URL is expected/],
          [["add", "more", docs.url, "--header", "secret-without-a-name"], 2, /not of the form/],
          [["edit", "docs"], 2, /What is to be changed is not said/],
          [["remove", "dosc"], 2, /There is no MCP server 'dosc'/]
        ] as const) {
          const answer = await gateway(...words)
          assert.strictEqual(answer.code, code, `${words.join(" ")}: ${answer.stderr}`)
          assert.match(answer.stderr, message)
          assert.notInclude(answer.stderr, "secret-without-a-name")
        }

        const started = [process.execPath, stdioServer, join(DATA_DIR, "pid"), "plain", "--dashed"]
        await done("add", "files", "--stdio", "--env", "SERVICE_TOKEN=token-of-the-service-1", "--", ...started)
        assert.strictEqual(await done("call", "files__add", '{"a":20,"b":22}'), "42\n")
        const { servers } = JSON.parse(await done("list", "--json"))
        assert.deepStrictEqual(
          servers.map(({ name, status, transport }: Record<string, unknown>) => [name, transport, status]),
          [
            ["docs", "http", "online"],
            ["files", "stdio", "online"]
          ]
        )
        assert.deepStrictEqual(servers[1].args.slice(2), ["plain", "--dashed"])
        assert.match(await done("tools"), /files__add/)
        const edited = JSON.parse(await done("edit", "docs", "--tool", "search", "--timeout", "5000", "--json"))
        assert.deepInclude(edited.server, { allowedTools: ["search"], timeoutMs: 5_000 })
        await done("disable", "files")
        assert.notMatch(await done("tools"), /files__add|docs__fail/)
        await done("enable", "files")
        assert.match(await done("show", "files"), /Environment +SERVICE_TOKEN/)
        await done("remove", "docs")
        assert.strictEqual(JSON.parse(await done("list", "--json")).servers.length, 1)
        await server.stop("SIGTERM")
      })
    ),
  120_000
)
