package io.modeldisk.mount.fuse;

import java.util.ArrayList;
import java.util.List;

/** The node numbers of the files and directories of a mount. Immutable. */
final class Nodes {
    /** A name in a directory. */
    record Entry(String name, long node) {}

    private record Directory(String name, List<Entry> entries) {}

    private final MountedFile[] files;
    // The first directory is the root.
    private final List<Directory> directories = new ArrayList<>();

    Nodes(List<MountedFile> all) {
        files = all.toArray(MountedFile[]::new);
        directories.add(new Directory("", new ArrayList<>()));
        for (int i = 0; i < files.length; i++) {
            String path = files[i].name();
            int slash = path.indexOf('/');
            Directory directory = slash < 0 ? directories.getFirst() : directory(path.substring(0, slash));
            directory.entries().add(new Entry(path.substring(slash + 1), KernelProtocol.FIRST_FILE_NODE + i));
        }
    }

    private Directory directory(String name) {
        for (Directory directory : directories) {
            if (directory.name().equals(name)) {
                return directory;
            }
        }
        Directory added = new Directory(name, new ArrayList<>());
        directories.getFirst().entries().add(new Entry(name, nodeOfDirectory(directories.size())));
        directories.add(added);
        return added;
    }

    private long nodeOfDirectory(int index) {
        return index == 0 ? KernelProtocol.ROOT_NODE : KernelProtocol.FIRST_FILE_NODE + files.length + index - 1L;
    }

    /** Returns the file with this node number; null if there is none. */
    MountedFile file(long node) {
        long index = node - KernelProtocol.FIRST_FILE_NODE;
        return index >= 0 && index < files.length ? files[(int) index] : null;
    }

    /** Returns the number of files. */
    int fileCount() {
        return files.length;
    }

    /** Returns the names in the directory with this node number; null if there is no such directory. */
    List<Entry> entries(long directory) {
        if (directory == KernelProtocol.ROOT_NODE) {
            return directories.getFirst().entries();
        }
        long index = directory - KernelProtocol.FIRST_FILE_NODE - files.length + 1;
        return index >= 1 && index < directories.size() ? directories.get((int) index).entries() : null;
    }

    /** Returns the node number of a name in a directory; 0 if the directory does not have the name. */
    static long find(List<Entry> entries, String name) {
        for (Entry entry : entries) {
            if (entry.name().equals(name)) {
                return entry.node();
            }
        }
        return 0;
    }
}
