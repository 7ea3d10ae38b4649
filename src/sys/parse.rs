//! Kernel text that has to be understood to know where to read on: mounted control groups, limits,
//! and who started a process. Pure, so that every platform tests it; all else is `probe`'s.
#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "only Linux has these texts")
)]

use std::path::{Path, PathBuf};

/// One mounted hierarchy as we see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    /// Whether it is version 2.
    pub(crate) unified: bool,
    /// Controllers of version 1, as mounted: `cpu,cpuacct`.
    pub(crate) controllers: String,
    /// Where it is mounted.
    pub(crate) mount: PathBuf,
    /// The folder of our own group, as far as it can be seen.
    pub(crate) own: PathBuf,
}

impl Hierarchy {
    /// Whether version 1 carries that controller here.
    pub(super) fn has(&self, controller: &str) -> bool {
        !self.unified && self.controllers.split(',').any(|one| one == controller)
    }

    /// Our group and those above it, as far as they can be seen.
    pub(super) fn levels(&self) -> impl Iterator<Item = &Path> {
        self.own
            .ancestors()
            .take_while(|folder| folder.starts_with(&self.mount))
    }
}

/// From `/proc/self/mountinfo` and `/proc/self/cgroup` to the hierarchies (`proc(5)`,
/// `cgroups(7)`).
pub(super) fn hierarchies_of(mounts: &str, groups: &str) -> Vec<Hierarchy> {
    let mut found = Vec::new();
    for line in mounts.lines() {
        let Some((place, kind)) = line.split_once(" - ") else {
            continue;
        };
        let mut place = place.split(' ').skip(3);
        let (Some(root), Some(mount)) = (place.next(), place.next()) else {
            continue;
        };
        let mut kind = kind.split(' ');
        let unified = match kind.next() {
            Some("cgroup2") => true,
            Some("cgroup") => false,
            _ => continue,
        };
        let options = kind.nth(1).unwrap_or_default();
        let Some((controllers, path)) = group_of(groups, unified, options) else {
            continue;
        };
        let mount = PathBuf::from(unescaped(mount));
        found.push(Hierarchy {
            unified,
            controllers,
            own: own_folder(&mount, root, &path),
            mount,
        });
    }
    found
}

/// Our line of `/proc/self/cgroup` for a mount with these options: controllers and path.
fn group_of(groups: &str, unified: bool, options: &str) -> Option<(String, String)> {
    let fits = |controllers: &str| {
        if unified {
            controllers.is_empty()
        } else {
            let mut all = controllers.split(',');
            !controllers.is_empty() && all.all(|one| options.split(',').any(|have| have == one))
        }
    };
    groups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        fits(controllers).then(|| (controllers.to_owned(), path.to_owned()))
    })
}

/// In a container the mount may show only part of the tree, and the path may count from elsewhere.
fn own_folder(mount: &Path, root: &str, path: &str) -> PathBuf {
    let below = Path::new(path).strip_prefix(root).ok();
    let plain = below.filter(|below| {
        below
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_)))
    });
    plain.map_or_else(|| mount.to_path_buf(), |below| mount.join(below))
}

/// Blanks in paths are written as `\040`.
fn unescaped(text: &str) -> String {
    text.replace("\\040", " ").replace("\\011", "\t")
}

/// `max 100000` or `20000 100000`.
pub(super) fn quota_v2(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    quota_v1(quota, period)
}

/// A negative quota is none.
pub(super) fn quota_v1(quota: &str, period: &str) -> Option<f64> {
    let quota: f64 = quota.trim().parse().ok()?;
    let period: f64 = period.trim().parse().ok()?;
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// One process: its parent, and whether it is dead already.
pub(super) struct Member {
    pub(super) parent: i32,
    pub(super) dead: bool,
}

/// Reads `/proc/PID/stat`: the name in brackets may hold anything, so fields count from the last.
pub(super) fn member(stat: &[u8]) -> Option<Member> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    Some(Member {
        dead: matches!(state, "Z" | "X" | "x"),
        parent: fields.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw
";
    const GROUPS: &str = "9:name=systemd:/\n2:cpuacct:/a/b\n1:cpu:/limited\n0::/x\n";

    #[test]
    fn both_versions_beside_each_other() {
        let all = hierarchies_of(HYBRID, GROUPS);
        let owns: Vec<_> = all.iter().map(|one| one.own.to_str().unwrap()).collect();
        assert_eq!(
            owns,
            [
                "/sys/fs/cgroup/cpu/limited",
                "/sys/fs/cgroup/cpuacct/a/b",
                "/sys/fs/cgroup/systemd/",
                "/sys/fs/cgroup/unified/x"
            ]
        );
        let levels: Vec<_> = all[1].levels().collect();
        assert_eq!(levels.len(), 3);
        assert!(all[3].unified && all[1].has("cpuacct") && !all[1].has("cpu"));
    }

    #[test]
    fn a_container_sees_only_its_part() {
        // Docker with version 1 and the host's namespace: the mount's root is the container.
        let mounts =
            "9 8 0:2 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n";
        let all = hierarchies_of(mounts, "4:cpu,cpuacct:/docker/ab\n");
        assert_eq!(all[0].own, Path::new("/sys/fs/cgroup/cpu,cpuacct"));
        assert_eq!(all[0].controllers, "cpu,cpuacct");
        // A path that leads out of what is mounted.
        let mounts = "9 8 0:2 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        let all = hierarchies_of(mounts, "0::/../../other\n");
        assert_eq!(all[0].own, Path::new("/sys/fs/cgroup"));
    }

    #[test]
    fn limits_of_both_versions() {
        assert_eq!(quota_v2("max 100000\n"), None);
        assert_eq!(quota_v2("20000 100000\n"), Some(0.2));
        assert_eq!(quota_v1("-1\n", "100000\n"), None);
        assert_eq!(quota_v1("150000\n", "100000\n"), Some(1.5));
    }

    #[test]
    fn names_do_not_confuse() {
        let member = member(b"7 (a) Z 1 (b) S 42 7 7 0 -1").unwrap();
        assert!(!member.dead);
        assert_eq!(member.parent, 42);
    }
}
