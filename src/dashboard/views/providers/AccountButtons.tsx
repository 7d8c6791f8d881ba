/** Buttons of an account, in its row and on its page: test it, turn it off or on. */
import { useSignal } from "@preact/signals"
import { words } from "../../words/providers.ts"
import { doing, testAccount, turnAccount } from "./actions.ts"
import type { Connection } from "./names.ts"

interface Properties {
  readonly connection: Connection
  /** The test is what is done here most. */
  readonly isMain?: boolean
}

export const AccountButtons = ({ connection, isMain = false }: Properties) => {
  const isBusy = useSignal(false)
  const does = async (work: () => Promise<unknown>): Promise<void> => {
    isBusy.value = true
    await doing(work)
    isBusy.value = false
  }
  return (
    <>
      <button
        type="button"
        class={isMain ? "button main-action" : "button"}
        disabled={isBusy.value}
        onClick={() => void does(() => testAccount(connection))}
      >
        {isBusy.value ? words.testing : words.test}
      </button>
      {connection.source === "db" && (
        <button
          key={connection.isActive ? "off" : "on"}
          type="button"
          class="button"
          disabled={isBusy.value}
          onClick={() => void does(() => turnAccount(connection, !connection.isActive))}
        >
          {connection.isActive ? words.turnOff : words.turnOn}
        </button>
      )}
    </>
  )
}
