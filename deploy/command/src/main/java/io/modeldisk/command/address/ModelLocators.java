package io.modeldisk.command.address;

import io.modeldisk.striping.ModelAddress;
import io.modeldisk.striping.ShardLocator;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** Opens the address of a model that a user has given. */
public final class ModelLocators {
    /** The forms of the address, for help texts. */
    public static final String FORMS = "modeldisk[+zk]://HOST:PORT[,HOST:PORT...]/NAME";

    /** The description of the address, for help texts. */
    public static final String DESCRIPTION = "modeldisk://: the addresses of the model's shards, in the order of the shard "
        + "numbers, and the model's name. modeldisk+zk://: the addresses of the coordinator, and the model's name.";

    private ModelLocators() {}

    /**
     * Opens an address. The caller closes the returned object.
     *
     * @throws IllegalArgumentException if the text is not a valid address
     * @throws IOException if the coordinator in the address does not answer, or has no such model
     */
    public static ShardLocator open(String address) throws IOException {
        return CoordinatedModel.isAddress(address) ? CoordinatedModel.open(address) : ModelAddress.parse(address);
    }

    /**
     * Returns the addresses of a model's shards at this moment. The result does not change if a shard moves later.
     *
     * @throws IllegalArgumentException if the text is not a valid address
     * @throws IOException if the coordinator in the address does not answer, or a shard has no address
     */
    public static ModelAddress current(String address) throws IOException {
        try (ShardLocator locator = open(address)) {
            List<InetSocketAddress> shards = new ArrayList<>();
            for (int i = 0; i < locator.shardCount(); i++) {
                shards.add(locator.portal(i));
            }
            return new ModelAddress(List.copyOf(shards), locator.model());
        }
    }
}
