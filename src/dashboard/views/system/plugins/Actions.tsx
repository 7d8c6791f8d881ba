/** Switches a plugin on and off, loads it anew, and removes it. What it was not granted yet is granted by name. */
import { useSignal } from "@preact/signals"
import { useLocation } from "preact-iso"
import { pluginsActivate, pluginsDeactivate, pluginsRemove } from "../../../api/calls.generated.ts"
import { refresh } from "../../../api/queries.ts"
import { setting } from "../../../ui/handlers.ts"
import { Danger } from "../../../ui/dialogs/Danger.tsx"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words as parts } from "../../../words/parts.ts"
import { words } from "../../../words/system/plugins.ts"
import { useWork } from "../../../ui/useWork.ts"
import { permissionWords } from "./permissions.ts"
import type { Plugin } from "./plugin.ts"

const keys = ["plugins", "plugin-config", "plugin-logs"] as const

export const Actions = ({ plugin }: { readonly plugin: Plugin }) => {
  const { hosts, name, permissions, status } = plugin
  const asked = useSignal<"grant" | "remove" | null>(null)
  const { route } = useLocation()
  const { isBusy, run } = useWork(keys)
  const path = { name }
  const missing = permissions.requested.filter((permission) => !permissions.granted.includes(permission))
  const on = (grant: typeof missing = []) => pluginsActivate({ path, body: { grant } })
  const off = () => pluginsDeactivate({ path })
  const switchOn = (): void => {
    if (missing.length > 0) asked.value = "grant"
    else void run(() => on(), words.switchedOn(visible(name)))
  }
  const switchOff = (): void =>
    void run(async () => {
      await off()
      toast("good", words.switchedOff(visible(name)), {
        label: parts.undo,
        run: () => void run(() => on(), words.switchedOn(visible(name)))
      })
    })
  const reload = (): void =>
    void run(async () => {
      await off()
      await on()
    }, words.reloaded)
  const close = (): void => {
    asked.value = null
  }
  return (
    <span class="buttons">
      {status === "active" ? (
        <>
          <button key="off" type="button" class="button" disabled={isBusy.value} onClick={switchOff}>
            {words.off}
          </button>
          <button key="reload" type="button" class="button" disabled={isBusy.value} onClick={reload}>
            {words.reload}
          </button>
        </>
      ) : (
        <button key="on" type="button" class="button main-action" disabled={isBusy.value} onClick={switchOn}>
          {words.on}
        </button>
      )}
      <button key="remove" type="button" class="button danger" onClick={setting(asked, "remove")}>
        {words.remove}
      </button>
      <Danger
        title={words.grantTitle(visible(name))}
        means={words.grantMeans(missing.map((permission) => permissionWords(permission, hosts)).join(words.and))}
        name={name}
        verb={words.grantVerb}
        isOpen={asked.value === "grant"}
        onClose={close}
        run={async () => {
          await on(missing)
          toast("good", words.switchedOn(visible(name)))
          for (const key of keys) void refresh(key)
        }}
      />
      <Danger
        title={words.removeTitle(visible(name))}
        means={words.removeMeans}
        name={name}
        verb={words.remove}
        isOpen={asked.value === "remove"}
        onClose={close}
        run={async () => {
          await pluginsRemove({ path })
          toast("good", words.removed)
          void refresh("plugins")
          route(placeOf("system/plugins"))
        }}
      />
    </span>
  )
}
