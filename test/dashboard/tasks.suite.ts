/**
 * Five everyday tasks, done in the page and done in a terminal: what each takes of clicks and keys, and how long. The counts have to be those of
 * docs/dashboard.md; the seconds are printed. Who does a task knows how; what is pasted counts as two keys.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Locator, Page } from "playwright-core"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { adminKey, browserPath, failing, hello, world } from "./world.ts"

interface Taken {
  readonly clicks: number
  readonly keys: number
  /** Time in which the machine worked, pressing and typing left out. */
  readonly machineMs: number
}

/** Seconds of a key and of a click (pointing and pressing): the keystroke-level model of Card, Moran and Newell, for an average typist. */
const secondsOf = { key: 0.28, click: 1.3 } as const

/** Ctrl and V. */
const pasted = 2

const byHand = ({ clicks, keys }: Taken): number => clicks * secondsOf.click + keys * secondsOf.key

/** Counts what a person does in a page. */
const handOn = (page: Page) => {
  const begun = performance.now()
  let [clicks, keys] = [0, 0]
  return {
    click: async (control: Locator): Promise<void> => {
      clicks += 1
      await control.click()
    },
    /** Into a field that is clicked first. */
    type: async (field: Locator, text: string): Promise<void> => {
      clicks += 1
      keys += text.length
      await field.click()
      await field.fill(text)
    },
    paste: async (field: Locator, text: string): Promise<void> => {
      clicks += 1
      keys += pasted
      await field.click()
      await field.fill(text)
    },
    press: async (key: string): Promise<void> => {
      keys += key.split("+").length
      await page.keyboard.press(key)
    },
    /** Chooses in a list: opened by a click, chosen by another one. */
    choose: async (list: Locator, value: string): Promise<void> => {
      clicks += 2
      await list.selectOption(value)
    },
    taken: (): Taken => ({ clicks, keys, machineMs: performance.now() - begun })
  }
}

type Hand = ReturnType<typeof handOn>

const docs = fileURLToPath(new URL("../../docs/dashboard.md", import.meta.url))

describe.skipIf(browserPath === null)("five everyday tasks", () => {
  const { ask, dataDir, enter, gateway, manage, run, upstream } = world()
  const rows: Array<string> = []

  /** Does a command as it is typed; words in `pastes` are pasted. */
  const terminal = () => {
    const begun = performance.now()
    let keys = 0
    return {
      type: async (command: string, pastes: ReadonlyArray<string> = []): Promise<string> => {
        const typed = pastes.reduce((text, paste) => text.replace(paste, "v".repeat(pasted)), command)
        // Enter.
        keys += typed.length + 1
        const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "")
        const environment = { DATA_DIR: dataDir(), GATEWAY_URL: gateway().url, GATEWAY_ADMIN_KEY: adminKey }
        const { code, stderr, stdout } = await run(words.slice(1), environment)
        assert.strictEqual(code, 0, `${command}: ${stderr}`)
        return stdout
      },
      /** What is typed in an editor. */
      edit: (count: number): void => void (keys += count),
      taken: (): Taken => ({ clicks: 0, keys, machineMs: performance.now() - begun })
    }
  }
  type Terminal = ReturnType<typeof terminal>

  const compare = async (
    name: string,
    inPage: (page: Page, hand: Hand) => Promise<void>,
    inTerminal: (type: Terminal) => Promise<void>
  ): Promise<void> => {
    const page = await enter()
    await page.getByRole("heading", { name: "Home", level: 1 }).waitFor()
    const hand = handOn(page)
    await inPage(page, hand)
    const seen = hand.taken()
    const shell = terminal()
    await inTerminal(shell)
    const typed = shell.taken()
    const counts = `| ${name} | ${seen.clicks} and ${seen.keys} | ${byHand(seen).toFixed(0)} s | ${typed.keys} | ${byHand(typed).toFixed(0)} s |`
    rows.push(`${counts} ${(seen.machineMs / 1_000).toFixed(1)} s | ${(typed.machineMs / 1_000).toFixed(1)} s |`)
    assert.include(readFileSync(docs, "utf8"), counts)
  }

  const entry = (page: Page, name: string) =>
    page.getByRole("navigation", { name: "Views" }).getByRole("link", { name })

  beforeAll(async () => {
    await manage("POST", "/api/providers", {
      provider: "openai",
      name: "work",
      apiKey: "sk-abcdefghijklmnopqrstuvwx1",
      baseUrl: upstream().url
    })
    for (const model of ["gpt-4o", "gpt-4o-mini"]) upstream().answers.set(model, hello(model))
    upstream().answers.set("gpt-4o-long", failing(400, "The model has no such context length."))
    await manage("POST", "/api/combos", {
      id: "best",
      name: "best",
      strategy: "weighted",
      targets: [
        { model: "openai/gpt-4o", weight: 3 },
        { model: "openai/gpt-4o-mini", weight: 1 }
      ]
    })
    for (const [name, questions] of [
      ["laptop", 1],
      ["ci", 20]
    ] as const) {
      const { secret } = await manage<{ readonly secret: string }>("POST", "/api/keys", { name })
      for (let n = 0; n < questions; n++) {
        const answer = await fetch(`${gateway().url}/v1/chat/completions`, {
          method: "POST",
          headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "best", messages: [{ role: "user", content: "Hello" }] })
        })
        await answer.text()
        assert.strictEqual(answer.status, 200)
      }
    }
    await ask("openai/gpt-4o-long")
  })
  afterAll(() => void process.stdout.write(`${rows.join("\n")}\n`))

  it("adds a provider with its key checked", async () => {
    const key = "sk-abcdefghijklmnopqrstuvwx2"
    const { url } = upstream()
    await compare(
      "Add a provider, its key checked",
      async (page, { click, paste, press, type }) => {
        await click(entry(page, "Providers"))
        await click(page.getByRole("link", { name: "Add a provider" }).first())
        await type(page.getByLabel("Search providers"), "groq")
        await click(page.getByRole("link", { name: /^Groq/ }).first())
        await paste(page.getByLabel(/^Key for/), key)
        await click(page.getByText("Address, proxy, and more"))
        await paste(page.getByLabel("Address"), url)
        await press("Enter")
        await page.getByText("key accepted", { exact: true }).waitFor()
        await click(page.getByRole("button", { name: "Save", exact: true }))
        await page.getByRole("heading", { name: /groq/i, level: 1 }).waitFor()
      },
      async ({ type }) => {
        const command = `gateway provider add mistral --api-key ${key} --base-url ${url}`
        await type(command, [key, url])
        const { connections } = await manage<{ connections: ReadonlyArray<{ readonly provider: string }> }>(
          "GET",
          "/api/providers"
        )
        assert.isTrue(connections.some(({ provider }) => provider === "mistral"))
      }
    )
  })

  it("finds why a request failed", async () => {
    const { logs } = await manage<{ logs: ReadonlyArray<{ readonly error: string }> }>(
      "GET",
      "/api/usage/logs?status=failed"
    )
    const why = logs[0]?.error ?? ""
    assert.isNotEmpty(why)
    await compare(
      "Find why a request failed",
      async (page, { click }) => {
        await click(entry(page, "Requests"))
        await click(page.getByRole("gridcell", { name: "400" }).first())
        const detail = page.getByRole("region", { name: "Request", exact: true })
        await detail.getByText(why).first().waitFor()
      },
      async ({ type }) => {
        const listed = await type("gateway logs --status failed")
        const id = /[0-9a-f]{8}-?[0-9a-f]*/.exec(listed)?.[0] ?? ""
        assert.include(await type(`gateway logs show ${id}`, [id]), why)
      }
    )
  })

  it("sees who spends most", async () => {
    await compare(
      "See who spends most",
      async (page, { choose, click }) => {
        await click(entry(page, "Keys"))
        await choose(page.getByLabel("First dimension"), "apiKey")
        const table = page.getByRole("region", { name: "Cost as a table" })
        await table.getByRole("row", { name: /^ci / }).waitFor()
      },
      async ({ type }) => {
        assert.include(await type("gateway usage --by key --range 30d"), "ci")
      }
    )
  })

  it("changes a combo safely", async () => {
    const file = join(dataDir(), "best.json")
    await compare(
      "Change a combo, tried on recorded requests first",
      async (page, { click, type }) => {
        await click(entry(page, "Routing"))
        await click(page.getByRole("link", { name: "best", exact: true }))
        await type(page.getByLabel("Weight of target 1"), "1")
        const panel = page.getByRole("region", { name: "Recorded requests, decided anew" })
        await panel.getByRole("columnheader", { name: "Stored" }).waitFor()
        await panel.locator("[aria-busy=false]").waitFor()
        await click(page.getByRole("button", { name: "Save", exact: true }))
        await page.getByText("best is saved.").waitFor()
      },
      async ({ edit, type }) => {
        const shown = await type("gateway combo show best --json")
        // `> best.json`, and one figure in an editor: its name, the way to the figure, the figure, and saving.
        edit(" > best.json".length + "nano best.json".length + 1 + 12 + 1 + 4)
        assert.match(shown, /"weight": ?1\b/)
        writeFileSync(
          file,
          shown.replace(/("weight": ?)1\b/, (_, before: string) => `${before}2`)
        )
        const command = `gateway route replay --since 24h --combo-file ${file} --compare-with best`
        await type(command, [file])
        await type("gateway combo edit best --weight openai/gpt-4o=2")
      }
    )
  })

  it("compares two models", async () => {
    const prompt = "Why is the sky blue?"
    await compare(
      "Compare two models",
      async (page, { click, press, type }) => {
        await click(entry(page, "Playground"))
        await type(page.locator("#model-1"), "openai/gpt-4o")
        await click(page.getByRole("button", { name: "Add a column" }))
        await type(page.locator("#model-2"), "openai/gpt-4o-mini")
        await type(page.getByLabel("Prompt", { exact: true }), prompt)
        await press("Control+Enter")
        for (const name of ["Model 1", "Model 2"]) {
          await page.getByRole("region", { name }).getByText("Hello.").waitFor()
        }
      },
      async ({ type }) => {
        const command = `gateway playground compare '${prompt}' --model openai/gpt-4o --model openai/gpt-4o-mini`
        assert.include(await type(command), "Hello.")
      }
    )
  })
})
