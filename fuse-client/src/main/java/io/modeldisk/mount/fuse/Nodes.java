package io.modeldisk.mount.fuse;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The node numbers of the files and directories of a mount. Each lookup of a file that is constant while it is open returns a new
 * instance: an inode whose node number has the number of the instance in its upper bits. Immutable.
 */
public final class Nodes {
    /** The node number of the root directory. */
    public static final int ROOT_NODE = 1;

    /** The node number of the first file. The other files have the next numbers. */
    public static final int FIRST_FILE_NODE = 2;

    /** A name in a directory. */
    public record Entry(String name, long node) {}

    /** The number of lower bits of a node number that identify the file. The upper bits contain the number of the instance. */
    public static final int BITS = 24;

    private record Directory(String name, List<Entry> entries, Map<String, Entry> byName) {
        Directory(String name) {
            this(name, new ArrayList<>(), new HashMap<>());
        }

        void add(Entry entry) {
            entries.add(entry);
            byName.put(entry.name(), entry);
        }
    }

    private final MountedFile[] files;
    // The first directory is the root.
    private final List<Directory> directories = new ArrayList<>();

    Nodes(List<MountedFile> all) {
        files = all.toArray(MountedFile[]::new);
        directories.add(new Directory(""));
        for (int i = 0; i < files.length; i++) {
            String path = files[i].name();
            int slash = path.indexOf('/');
            Directory directory = slash < 0 ? directories.getFirst() : directory(path.substring(0, slash));
            directory.add(new Entry(path.substring(slash + 1), FIRST_FILE_NODE + i));
        }
    }

    private Directory directory(String name) {
        for (Directory directory : directories) {
            if (directory.name().equals(name)) {
                return directory;
            }
        }
        Directory added = new Directory(name);
        directories.getFirst().add(new Entry(name, nodeOfDirectory(directories.size())));
        directories.add(added);
        return added;
    }

    private long nodeOfDirectory(int index) {
        return index == 0 ? ROOT_NODE : FIRST_FILE_NODE + files.length + index - 1L;
    }

    /** Returns the file with this node number; null if there is none. */
    public MountedFile file(long node) {
        long index = withoutInstance(node) - FIRST_FILE_NODE;
        return index >= 0 && index < files.length ? files[(int) index] : null;
    }

    /** Returns the number of files. */
    public int fileCount() {
        return files.length;
    }

    /** Returns the names in the directory with this node number; null if there is no such directory. */
    List<Entry> entries(long directory) {
        Directory found = found(directory);
        return found == null ? null : found.entries();
    }

    private Directory found(long node) {
        if (node == ROOT_NODE) {
            return directories.getFirst();
        }
        long index = node - FIRST_FILE_NODE - files.length + 1;
        return index >= 1 && index < directories.size() ? directories.get((int) index) : null;
    }

    /** Returns the node number of a name in a directory; 0 if the directory does not have the name. */
    long find(long directory, String name) {
        Entry entry = found(directory).byName().get(name);
        return entry == null ? 0 : entry.node();
    }

    /** Adds the number of an instance to a node number. */
    public static long withInstance(long node, long instance) {
        return instance << BITS | node;
    }

    /** Returns the number of the instance in a node number; 0 if there is none. */
    static long instance(long node) {
        return node >>> BITS;
    }

    /** Removes the number of the instance from a node number. */
    public static long withoutInstance(long node) {
        return node & (1L << BITS) - 1;
    }
}
