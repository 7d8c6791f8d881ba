/** The view of the system: every operation of the API has a form that sends what was typed and shows what is wrong. */
import { assert, describe, it } from "vitest"
import { browserPath, world } from "./world.ts"

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly operationId?: string
            readonly tags?: ReadonlyArray<string>
            readonly requestBody?: { readonly content: object }
          }
        >
      >
    >
  >
}

/** Operations with a JSON body that are not meant for a form, each with its reason. */
const notMeant: Readonly<Record<string, string>> = {
  Ollama: "models are asked in the playground",
  Inference: "models are asked in the playground",
  "Other paths": "the same operation has a form at its first path"
}

describe.skipIf(browserPath === null)("the view of the system", () => {
  const { enter, gateway, manage } = world()

  it("has every operation with a JSON body, or says why not", async () => {
    const document = (await (await fetch(`${gateway().url}/openapi.json`)).json()) as Document
    const withBody = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.values(item).flatMap(({ operationId = "", requestBody, tags = [] }) =>
        requestBody !== undefined && "application/json" in requestBody.content && path.startsWith("/api/")
          ? [{ operationId, tag: tags[0] ?? "" }]
          : []
      )
    )
    assert.isAbove(withBody.length, 110)
    const page = await enter("system/operations")
    await page.getByText(/\d+ operations/).waitFor()
    const listed = new Set(
      await page
        .locator(".operations a")
        .evaluateAll((links) => links.map((link) => link.getAttribute("href")?.split("/").at(-1)))
    )
    const missing = withBody.filter(({ operationId, tag }) => !listed.has(operationId) && !(tag in notMeant))
    assert.deepStrictEqual(missing, [])
  })

  it("creates a key by its form, and shows the secret this once", async () => {
    const page = await enter("system/keysCreate")
    await page.locator("#field-name").fill("from a form")
    await page.locator("#field-allowedModels").fill("openai/*\n*mini*")
    await page.locator("#field-maxRequestsPerDay").fill("500")
    await page.getByRole("button", { name: "Create an API key" }).click()
    await page.getByText("The answer: 201").waitFor()
    assert.match(await page.locator(".answer").innerText(), /"secret": "gw_/)
    const { keys } = await manage<{ keys: ReadonlyArray<Record<string, unknown>> }>("GET", "/api/keys")
    const made = keys.find(({ name }) => name === "from a form")
    assert.deepInclude(made, { allowedModels: ["openai/*", "*mini*"], maxRequestsPerDay: 500 })
  })

  it("shows a problem beside its field, in the words of the API", async () => {
    const page = await enter("system/keysCreate")
    await page.getByRole("button", { name: "Create an API key" }).click()
    await page.getByRole("alert").filter({ hasText: "name: is missing" }).first().waitFor()
    await page.locator("#field-maxRequestsPerDay").fill("1.5")
    await page.locator("#field-name").fill("half")
    await page.getByRole("button", { name: "Create an API key" }).click()
    const field = page.locator("#field-maxRequestsPerDay")
    await page.waitForFunction(
      () => document.querySelector("#field-maxRequestsPerDay")?.getAttribute("aria-invalid") === "true"
    )
    assert.strictEqual(await field.getAttribute("aria-invalid"), "true")
  })

  it("asks before it removes", async () => {
    const { key } = await manage<{ key: { id: string } }>("POST", "/api/keys", { name: "to go" })
    const page = await enter("system/keysRemove")
    await page.getByLabel("id").fill(key.id)
    const remove = page.getByRole("button", { name: "Delete an API key" })
    await remove.first().click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("button", { name: "Cancel" }).click()
    await dialog.waitFor({ state: "hidden" })
    await remove.first().click()
    await dialog.getByRole("button", { name: "Delete an API key" }).click()
    await page.getByText("The answer: 204").waitFor()
  })

  it("opens each form without a fault, in one page", async () => {
    const page = await enter("system/operations")
    await page.getByText(/\d+ operations/).waitFor()
    const begun = performance.now()
    const { failed, opened } = await page.evaluate(async () => {
      const frame = () => new Promise((done) => requestAnimationFrame(done))
      const mostFrames = 300
      const until = async (isSo: () => boolean): Promise<boolean> => {
        for (let n = 0; n < mostFrames && !isSo(); n++) await frame()
        return isSo()
      }
      const links = () => [...document.querySelectorAll<HTMLAnchorElement>(".operations a")]
      const all = links().map((link) => link.getAttribute("href") ?? "")
      const faults: Array<string> = []
      for (const href of all) {
        links()
          .find((link) => link.getAttribute("href") === href)
          ?.click()
        const isOpen = await until(() => document.querySelector(".operation form button[type=submit]") !== null)
        if (!isOpen || document.querySelector(".failure") !== null) faults.push(href)
        document.querySelector<HTMLAnchorElement>(".operation a")?.click()
        if (!(await until(() => links().length === all.length))) faults.push(`${href}: no way back`)
      }
      return { failed: faults, opened: all.length }
    })
    assert.deepStrictEqual(failed, [])
    assert.isAbove(opened, 250)
    // A form is there in a moment: half a second each would be far too long.
    assert.isBelow((performance.now() - begun) / opened, 250)
  })

  it("keeps the form of an operation at its own address", async () => {
    const page = await enter("system/keysCreate")
    await page.getByRole("heading", { name: "Create an API key" }).waitFor()
    await page.reload()
    await page.locator("#field-name").waitFor()
    await page.getByRole("article").getByRole("link", { name: "All operations" }).click()
    await page.getByLabel("Search operations").fill("PUT webhook")
    await page.getByText(/^\d+ operations?$/).waitFor()
    await page.waitForURL(/system\/operations\?q=PUT/)
  })

  it("says where there is no such place", async () => {
    const page = await enter("system/nope")
    await page.getByText("There is no such operation.").waitFor()
  })
})
