/** The lists of subjects are those that the folders of `src/subjects` give. */
import { assert, describe, it } from "@effect/vitest"
import { generated, outdated } from "../../bin/subjects.mjs"

describe("the lists of subjects", () => {
  it("are what the files of the subjects say: run 'npm run subjects' when one is not", () => {
    assert.deepStrictEqual(outdated(), [])
  })

  it("name every folder that has routes, a service, a repository or commands", () => {
    const texts = [...generated().values()].join("\n")
    for (const file of ["webhooks/subject.ts", "webhooks/routes.ts", "webhooks/handlers.ts", "webhooks/service.ts"]) {
      assert.include(texts, `subjects/${file}`)
    }
    assert.include(texts, "webhooks/repo.ts")
    assert.include(texts, "webhooks/commands/tree.ts")
    assert.include(texts, '{ table: "webhooks", columns: ["secret", "mail"] }')
  })
})
