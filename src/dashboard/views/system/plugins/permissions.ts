/** Permissions of plugins in words. Pure. */
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/plugins.ts"

type Permission = keyof typeof words.permissionWords

export const permissionWords = (permission: Permission, hosts: ReadonlyArray<string> | null): string =>
  visible(words.permissionWords[permission](hosts))

/** All of them in one sentence. */
export const permissionText = (permissions: ReadonlyArray<Permission>, hosts: ReadonlyArray<string> | null): string => {
  if (permissions.length === 0) return words.noPermission
  const text = permissions.map((permission) => permissionWords(permission, hosts)).join(words.and)
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
