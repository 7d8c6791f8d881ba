/** Descriptions of each permission for the plugin's owner. */
import type { PluginManifest, PluginPermission } from "../../../subjects/plugins/entity.ts"

/** `hosts`: of the manifest; null: any. */
export const permissionWords = (permission: PluginPermission, hosts: PluginManifest["hosts"]): string => {
  switch (permission) {
    case "network":
      return hosts === null
        ? "call any public address: it may send what it sees of requests and answers elsewhere"
        : `call ${hosts.length === 0 ? "no host" : hosts.join(", ")}: it may send what it sees of requests and answers there`
    case "file-read":
      return "read files in its own data folder"
    case "file-write":
      return "write files in its own data folder, up to 50 MB"
    case "env":
      return "read environment variables of the gateway, without those that look like secrets"
    case "exec":
      return "start programs on this machine as the user of the gateway: this ends all isolation"
  }
}

/** Description of the abilities of every active plugin, without any permission. */
export const withoutPermission = "see and change requests and answers of the events it listens to"
